// Retries or cancels all runs that a filter finds, page by page.
import { api, type Schemas } from '../../api/client.ts';
import { type RunFilter, runQuery } from './run-filter.ts';

export type Bulk = 'retry' | 'cancel';

/** The outcome so far: how many runs were changed, and which were passed over. */
export type BulkResult = Pick<Schemas['RetriedRuns'], 'refused'> & { done: number };

/** The project, the filter, and the moment at which it is meant: later runs are left alone. */
type Asked = { projectId: string; filter: RunFilter; now: number };

/** So few that a page is carried out well within the time that a request may take. */
const PAGE = 50;
const COUNTED_PAGE = 100;
export const COUNT_MAX = 1_000;

/** Counts, up to COUNT_MAX, the runs that would be retried or cancelled. */
export async function countMatching(how: Bulk, asked: Asked, signal: AbortSignal): Promise<number> {
  let count = 0;
  let cursor: string | null | undefined;
  do {
    const page = await send(how, asked, { dryRun: true, limit: COUNTED_PAGE, cursor }, signal);
    count += page.matching?.length ?? 0;
    cursor = page.nextCursor;
  } while (cursor && count < COUNT_MAX);
  return count;
}

/**
 * Retries or cancels them all; `onProgress` is told what came of it so far. Where no further run is accepted, it asks once
 * more for the next ones: the error of that request says why.
 */
export async function changeRuns(
  how: Bulk,
  asked: Asked,
  onProgress: (result: BulkResult) => void,
): Promise<BulkResult> {
  const result: BulkResult = { done: 0, refused: [] };
  let cursor: string | null | undefined;
  do {
    const page = await send(how, asked, { dryRun: false, limit: PAGE, cursor });
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
  { projectId, filter, now }: Asked,
  { cursor, ...page }: Page,
  signal?: AbortSignal,
): Promise<Schemas['RetriedRuns'] | Schemas['CancelledRuns']> {
  const { flow, version, mode, environment, key, status, since, until } = runQuery(filter, now);
  const body = {
    ...{ flow, version, mode, environment, key, since, until: until ?? new Date(now).toISOString() },
    // Failed runs alone are retried.
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
