// A bulk retry: its state, its words, and the requests that continue it.
import { useIsMutating, useMutation } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.ts';
import { api, refetch, type Schemas } from '../../api/client.ts';
import { statusName } from '../../ui/badge.tsx';
import { formatMoment } from '../../ui/format.ts';
import { MODE_NAMES, versionName } from '../run.ts';

export type BulkRetry = Schemas['ListedBulkRetry'];
type RetryRequest = Schemas['RetryRunsRequest'];

export const BULK_RETRIES = '/api/v1/projects/{project_id}/bulk-retries';
export const BULK_RETRY = `${BULK_RETRIES}/{bulk_id}` as const;

/** Runs in one request: few enough to be accepted well within its time limit. */
const PAGE = 50;
const CONTINUE = ['continue-bulk-retry'];

/** Sends one request of a bulk retry. */
async function retryPage(projectId: string, body: RetryRequest): Promise<Schemas['RetriedRuns']> {
  const { data } = await api.POST('/api/v1/projects/{project_id}/runs/retry', {
    params: { path: { project_id: projectId } },
    body: { limit: PAGE, ...body },
  });
  return data as Schemas['RetriedRuns'];
}

/** `cursor`: null from the beginning. */
type Continuation = { projectId: string; bulkId: string; request: RetryRequest; cursor: string | null };

/** Makes the mutation that sends the further requests of a bulk retry, also after its component is gone. */
export function useContinueBulkRetry() {
  return useMutation({
    mutationKey: CONTINUE,
    async mutationFn({ projectId, bulkId, request, cursor }: Continuation) {
      let next = cursor;
      do {
        const page: Schemas['RetriedRuns'] | undefined = await retryPage(projectId, {
          ...request,
          bulk_id: bulkId,
          ...(next !== null && { cursor: next }),
        }).catch((error: unknown) => {
          // It was cancelled meanwhile, as its page says.
          if (error instanceof ApiError && error.code === 'CONFLICT') return undefined;
          throw error;
        });
        // When no further run is accepted, the next request fails with the reason.
        next = page?.nextCursor ?? null;
      } while (next !== null);
    },
    onSettled: () => refetch(BULK_RETRY),
  });
}

/** Whether this window is sending the further requests of a bulk retry. */
export function useIsContinued(bulkId: string): boolean {
  return (
    useIsMutating({
      mutationKey: CONTINUE,
      predicate: ({ state }) => (state.variables as Continuation | undefined)?.bulkId === bulkId,
    }) > 0
  );
}

/** `starting`: it has runs that were not tried yet; the request may also have broken off. */
type BulkState = 'starting' | 'running' | 'cancelled' | 'stopped' | 'ended';

export function stateOf(bulk: BulkRetry): BulkState {
  if (bulk.cancelledAt) return bulk.running > 0 ? 'running' : 'cancelled';
  if (bulk.running > 0) return 'running';
  if (bulk.stoppedBy) return 'stopped';
  return bulk.nextCursor || bulk.started + bulk.refused < bulk.planned ? 'starting' : 'ended';
}

const FIELDS: Record<string, string> = {
  flow: 'flow',
  version: 'version',
  mode: 'mode',
  environment: 'environment',
  key: 'API key',
  since: 'from',
  until: 'before',
  outcome: 'outcome',
  errorCode: 'error',
};

/** Describes which runs a bulk retry looked for. */
export function describeFilter({ filter }: BulkRetry): string {
  const parts = Object.entries(FIELDS).flatMap(([field, name]) =>
    filter[field] === undefined ? [] : [`${name} ${describeValue(field, String(filter[field]))}`],
  );
  // Nobody knows a group by its id.
  if (filter.error_group !== undefined) parts.push('one error only');
  return parts.length === 0 ? 'all failed runs' : parts.join(', ');
}

function describeValue(field: string, value: string): string {
  if (field === 'since' || field === 'until') return formatMoment(value);
  if (field === 'version') return versionName(Number(value));
  if (field === 'outcome') return statusName(value);
  return (field === 'mode' && MODE_NAMES[value]) || value;
}

export function describeVersion({ filter }: BulkRetry): string {
  const { on_version: version } = filter;
  if (version === 'production') return 'in production';
  return typeof version === 'number' ? versionName(version) : 'of each failed run';
}
