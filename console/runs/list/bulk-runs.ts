import { api, type Schemas } from '../../api/client.ts';
import { type RunFilter, runQuery } from './run-filter.ts';

export type Bulk = 'retry' | 'cancel';

/** The result so far: how many runs were changed, and which were skipped. */
export type BulkResult = Pick<Schemas['RetriedRuns'], 'refused'> & { done: number };

/** The project, the filter and the time of the request: later runs are not affected. */
type BulkRequest = { projectId: string; filter: RunFilter; now: number };

/** Small enough for a page to be carried out well within a request's time limit. */
const PAGE = 50;
const COUNTED_PAGE = 100;
export const COUNT_MAX = 1_000;

/** Counts the runs that would be retried or cancelled, up to COUNT_MAX. */
export async function countMatching(how: Bulk, request: BulkRequest, signal: AbortSignal): Promise<number> {
  let count = 0;
  let cursor: string | null | undefined;
  do {
    const page = await send(how, request, { dryRun: true, limit: COUNTED_PAGE, cursor }, signal);
    count += page.matching?.length ?? 0;
    cursor = page.nextCursor;
  } while (cursor && count < COUNT_MAX);
  return count;
}

/**
 * Retries or cancels all matching runs, page by page; `onProgress` gets the result so far. When no further run is
 * accepted, the request for the next page fails with the reason.
 */
export async function changeRuns(
  how: Bulk,
  request: BulkRequest,
  onProgress: (result: BulkResult) => void,
): Promise<BulkResult> {
  const result: BulkResult = { done: 0, refused: [] };
  let cursor: string | null | undefined;
  do {
    const page = await send(how, request, { dryRun: false, limit: PAGE, cursor });
    if ('cancelled' in page) result.done += page.cancelled.length;
    else {
      result.done += page.retried.length;
      result.refused.push(...page.refused);
    }
    cursor = page.nextCursor;
    onProgress({ ...result });
  } while (cursor);
  return result;
}

type Page = { dryRun: boolean; limit: number; cursor: string | null | undefined };

async function send(
  how: Bulk,
  { projectId, filter, now }: BulkRequest,
  { cursor, ...page }: Page,
  signal?: AbortSignal,
): Promise<Schemas['RetriedRuns'] | Schemas['CancelledRuns']> {
  const { flow, version, mode, environment, key, status, since, until } = runQuery(filter, now);
  const body = {
    ...{ flow, version, mode, environment, key, since, until: until ?? new Date(now).toISOString() },
    // Retries take no status: only failed runs are retried.
    ...(how === 'cancel' && { status: status as Schemas['CancelRunsRequest']['status'] }),
    ...page,
    ...(cursor && { cursor }),
  };
  const { data } = await api.POST(`/api/v1/projects/{project_id}/runs/${how}`, {
    params: { path: { project_id: projectId } },
    body,
    ...(signal && { signal }),
  });
  return data as NonNullable<typeof data>;
}
