// Retries of failed runs, one by one, each once; shared by HTTP and the `weir` command.
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { BulkRetryCancelled, findRetryOf } from '../../db/runs/bulk-retries.ts';
import { repeatedAlready } from '../../db/runs/insert-calls.ts';
import type { ListedRun } from '../../db/runs/list-runs.ts';
import type { Environment } from '../../db/schema.ts';
import type { Refusal } from '../../db/tables/bulk-retries.ts';
import type { ModelKeys } from '../../db/tenants/model-keys.ts';
import type { ProjectAccess } from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { CANCELLED } from '../../flow/run.ts';
import type { AcceptDeps } from '../deps.ts';
import type { LoadedFlow } from '../http/context.ts';
import { STATUS, toServiceError } from '../http/errors.ts';
import { acceptIdempotently, findAcceptedCall } from './calls/accept-idempotently.ts';
import { acceptRepeat, requireRepeatable } from './calls/accept-repeat.ts';
import { flowNotFound, loadRunnableFlow } from './calls/load-flow.ts';
import { type AcceptedCall, PerhapsStored } from './calls/store-call.ts';
import {
  describeRepetition,
  type repeated,
  toVersion,
  type VersionChoice,
} from './run-shapes/repetitions.ts';

/** Errors after which no other run would be accepted either. */
const STOPPING = [401, 402, 403, 408, 429, 500, 503];

/**
 * Who retries runs, and how. `onVersion`: the version of the new runs. `bulkId`: the bulk retry that they belong to.
 * `isKeyed`: the request may be a repeated one, whose new runs exist. `environment`: that of the new runs; without it, that of
 * each run.
 */
export type Retrier = {
  onVersion: VersionChoice;
  bulkId?: string | undefined;
  isKeyed?: boolean;
  within: ProjectAccess;
  projectId: string;
  environment?: Environment;
  /** Whether runs that were cancelled are retried, too. */
  cancelledToo?: boolean;
  keyId?: string | undefined;
  userId?: string | undefined;
  modelKeys?: ModelKeys | undefined;
  requestId: string;
  /**
   * Accepts and starts a run under the organization's permit. Without it, the run is accepted at once and a worker
   * starts it.
   */
  inTurn?: (flow: LoadedFlow, accept: () => Promise<AcceptedCall>) => Promise<AcceptedCall>;
};

export type Retried = { executionId: string } & z.input<z.ZodObject<typeof repeated>>;
type Retries = {
  retried: Retried[];
  refused: Refusal[];
  stoppedBy: ServiceError | null;
  /** The last run before the error that ended the retries. */
  last: string | undefined;
};

/**
 * Retries the runs one by one, until an error after which no other run of the organization would be accepted
 * (`stoppedBy`).
 */
export async function retryEach(deps: AcceptDeps, runs: ListedRun[], retrier: Retrier): Promise<Retries> {
  const retries: Retries = { retried: [], refused: [], stoppedBy: null, last: undefined };
  for (const run of runs) {
    const id = run.execution_id;
    try {
      requireRetriable(run, retrier);
      retries.retried.push(await retryRun(deps, run, retrier));
    } catch (error) {
      const earlier = await findEarlierRetry(deps, run, retrier);
      if (earlier) {
        retries.retried.push(earlier);
        retries.last = id;
        continue;
      }
      const fields = { repeats: id };
      const refusal = toServiceError(error, { requestId: retrier.requestId, fields, mayWrite: true });
      if (error instanceof BulkRetryCancelled) return { ...retries, stoppedBy: error };
      // A problem of one run, such as a lost stored request, does not affect the others.
      const isOfRun =
        error instanceof ServiceError && ['INTERNAL_ERROR', 'DNS_UNAVAILABLE'].includes(refusal.code);
      if (STOPPING.includes(STATUS[refusal.code]) && !isOfRun) return { ...retries, stoppedBy: refusal };
      retries.refused.push(refusedAs(id, refusal));
    }
    retries.last = id;
  }
  return retries;
}

/** Finds the new run that an earlier request with the same Idempotency-Key made of this one. */
async function findEarlierRetry(
  deps: AcceptDeps,
  run: ListedRun,
  { isKeyed = false, bulkId }: Retrier,
): Promise<Retried | undefined> {
  const id = isKeyed && bulkId !== undefined && (await findRetryOf(deps.db, bulkId, run.execution_id));
  const call = id ? await findAcceptedCall(deps, id) : undefined;
  return call && { executionId: call.executionId, ...(await describeRepetition(deps, 'retry', run, call)) };
}

/**
 * Lists which of these runs `retryEach` would try to retry, and which it would reject from the start. Changes
 * nothing.
 */
export function sortOutRetries(
  runs: ListedRun[],
  options: Pick<Retrier, 'cancelledToo'>,
): { matching: string[]; refused: Refusal[] } {
  const matching: string[] = [];
  const refused: Refusal[] = [];
  for (const run of runs)
    try {
      requireRetriable(run, options);
      matching.push(run.execution_id);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refused.push(refusedAs(run.execution_id, error));
    }
  return { matching, refused };
}

function refusedAs(executionId: string, { code, message }: ServiceError): Refusal {
  return { executionId, code, errorMessage: message };
}

/** Throws CONFLICT for a run that was repeated or cancelled, and the errors of `requireRepeatable`. */
function requireRetriable(run: ListedRun, { cancelledToo = false }: Pick<Retrier, 'cancelledToo'>): void {
  if (run.repeated_by) throw repeatedAlready(run.repeated_by);
  if (run.error?.code === CANCELLED.code && !cancelledToo)
    throw new ServiceError(
      'CONFLICT',
      'This run was cancelled: retry it by its id, or cancelled runs with the outcome cancelled.',
    );
  requireRepeatable(run, 'retry');
}

/** Retries one run, once: of concurrent requests, one gets the new run and the others CONFLICT. */
async function retryRun(deps: AcceptDeps, run: ListedRun, retrier: Retrier): Promise<Retried> {
  const { within, projectId, environment = run.environment, inTurn, onVersion, bulkId } = retrier;
  const { keyId, userId, modelKeys } = retrier;
  const slugs = { organization: run.organization, project: run.project, flow: run.flow };
  const asked = toVersion(onVersion, run.version);
  const flow = await loadRunnableFlow(deps, { ...slugs, within, version: asked });
  // Another flow may have taken the slug of a deleted one.
  if (flow?.flowId !== run.flow_id) throw flowNotFound(asked);
  // Callers cannot send keys with a space.
  const once = `retry ${run.execution_id}`;
  const request = {
    slugs,
    flow,
    modelKeys,
    environment,
    keyId,
    userId,
    pinned: true,
    body: undefined,
    requestId: retrier.requestId,
    idempotencyKey: {
      projectId,
      endpoint: 'jobs' as const,
      key: once,
      digest: createHash('sha256').update(once).digest(),
    },
  };
  const accept = () =>
    acceptIdempotently(deps, request, () =>
      acceptRepeat(deps, request, run, 'retry', { once: true, bulkId }),
    );
  try {
    const call = await (inTurn ? inTurn(flow, accept) : accept());
    // Another request, at the same time, retried the run before this one.
    if (call.replayed) throw repeatedAlready(call.executionId);
    return { executionId: call.executionId, ...(await describeRepetition(deps, 'retry', run, call)) };
  } catch (error) {
    throw error instanceof PerhapsStored ? error.cause : error;
  }
}
