import { api, type Schemas } from '../../api/client.ts';
import { type RunFilter, runQuery } from './run-filter.ts';

export type RetryResult = Pick<Schemas['RetriedRuns'], 'retried' | 'refused' | 'stoppedBy'>;

const PAGE = 200;
const RETRY_PAGE = 50;
export const FAILED_COUNT_MAX = 1_000;

/** Counts the failed runs that a filter finds, up to FAILED_COUNT_MAX. */
export async function countFailed(
  projectId: string,
  filter: RunFilter,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  let cursor: string | null | undefined;
  do {
    const { data }: { data?: Schemas['ListedRuns'] } = await api.GET('/api/v1/projects/{project_id}/runs', {
      params: {
        path: { project_id: projectId },
        query: { ...runQuery(filter, now), status: 'failed', limit: PAGE, ...(cursor ? { cursor } : {}) },
      },
      signal,
    });
    count += data?.runs.length ?? 0;
    cursor = data?.nextCursor;
  } while (cursor && count < FAILED_COUNT_MAX);
  return count;
}

/** Retries them all, page by page; `onProgress` is told what came of it so far. */
export async function retryFailed(
  projectId: string,
  filter: RunFilter,
  now: number,
  onProgress: (result: RetryResult) => void,
): Promise<RetryResult> {
  const { flow, version, mode, environment, key, since, until } = runQuery(filter, now);
  const query = { flow, version, mode, environment, key, since, until: until ?? new Date(now).toISOString() };
  const result: RetryResult = { retried: [], refused: [], stoppedBy: null };
  let cursor: string | null | undefined;
  do {
    const { data }: { data?: Schemas['RetriedRuns'] } = await api.POST(
      '/api/v1/projects/{project_id}/runs/retry',
      {
        params: { path: { project_id: projectId } },
        body: { ...query, limit: RETRY_PAGE, ...(cursor ? { cursor } : {}) },
      },
    );
    if (!data) break;
    result.retried.push(...data.retried);
    result.refused.push(...data.refused);
    result.stoppedBy = data.stoppedBy;
    cursor = data.nextCursor;
    onProgress({ ...result });
  } while (cursor && !result.stoppedBy);
  return result;
}
