// Retries failed runs one by one, each once, for whoever has found them.
import { createHash } from 'node:crypto';
import { findRepetitions, repeatedAlready } from '../../db/runs/find-repetitions.ts';
import type { ListedRun } from '../../db/runs/list-runs.ts';
import type { Environment } from '../../db/schema.ts';
import type { ModelKeys } from '../../db/tenants/model-keys.ts';
import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import { describeEngineError } from '../../engine/describe-engine-error.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { CANCELLED } from '../../flow/run.ts';
import { log } from '../../observability/log.ts';
import type { ApiDeps } from '../deps.ts';
import { STATUS } from '../http/errors.ts';
import { toServiceError } from '../http/to-service-error.ts';
import { acceptIdempotently } from './accept-idempotently.ts';
import { acceptRepeat, requireRepeatable } from './accept-repeat.ts';
import { startInPlace } from './admit.ts';
import { findRunnableFlow, flowNotFound } from './load-flow.ts';
import { PerhapsStored } from './store-call.ts';

/** The errors after which no other run would be accepted either. */
const STOPPING = [402, 429, 500, 503];

/** For whom runs are retried. `environment`: that of the new runs; absent: of each run. */
export type Retrier = {
  within: ProjectAccess;
  projectId: string;
  environment?: Environment;
  keyId?: string | undefined;
  modelKeys?: ModelKeys | undefined;
  signal: () => AbortSignal;
  requestId: string;
};

type Refused = { executionId: string; code: ErrorCode; errorMessage: string };
export type Retries = {
  retried: { executionId: string; repeats: string }[];
  refused: Refused[];
  stoppedBy: ErrorCode | null;
  /** The last run before the error that stopped this. */
  last: string | undefined;
};

/**
 * Retries the runs one by one, up to an error after which no other would be accepted (`stoppedBy`), which is thrown when none was
 * retried.
 */
export async function retryEach(deps: ApiDeps, runs: ListedRun[], retrier: Retrier): Promise<Retries> {
  const repeated = await findRepetitions(deps.db, idsOf(runs));
  const retries: Retries = { retried: [], refused: [], stoppedBy: null, last: undefined };
  for (const run of runs) {
    const id = run.execution_id;
    try {
      requireRetriable(run, repeated);
      retries.retried.push({ executionId: await retryRun(deps, run, retrier), repeats: id });
    } catch (error) {
      const fields = { repeats: id };
      const refusal = toServiceError(error, { requestId: retrier.requestId, fields, mayWrite: true });
      if (STOPPING.includes(STATUS[refusal.code])) {
        if (retries.retried.length === 0) throw refusal;
        return { ...retries, stoppedBy: refusal.code };
      }
      retries.refused.push(refusedAs(id, refusal));
    }
    retries.last = id;
  }
  return retries;
}

/** Says which of these runs `retryEach` would try to retry, and which it would refuse from the start. Changes nothing. */
export async function sortOutRetries({ db }: ApiDeps, runs: ListedRun[]) {
  const repeated = await findRepetitions(db, idsOf(runs));
  const matching: string[] = [];
  const refused: Refused[] = [];
  for (const run of runs)
    try {
      requireRetriable(run, repeated);
      matching.push(run.execution_id);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refused.push(refusedAs(run.execution_id, error));
    }
  return { matching, refused };
}

function idsOf(runs: ListedRun[]): string[] {
  return runs.map((run) => run.execution_id);
}

function refusedAs(executionId: string, { code, message }: ServiceError): Refused {
  return { executionId, code, errorMessage: message };
}

/** Throws CONFLICT for a run that was run again, and whatever `requireLeftAlone` and `requireRepeatable` throw. */
function requireRetriable(run: ListedRun, repeated: Map<string, string>): void {
  const earlier = repeated.get(run.execution_id);
  if (earlier) throw repeatedAlready(earlier);
  requireLeftAlone(run);
  requireRepeatable(run, 'retry');
}

/** Throws CONFLICT for a run that somebody has decided about: one that was cancelled, and one that runs another again. */
function requireLeftAlone({ repeats, error }: ListedRun): void {
  const instead = '…/jobs/{executionId}/retry retries it all the same.';
  if (repeats)
    throw new ServiceError('CONFLICT', `This run is itself a repetition, of ${repeats}: ${instead}`);
  if (error?.code === CANCELLED.code)
    throw new ServiceError('CONFLICT', `This run was cancelled: ${instead}`);
}

/** Retries one run, once: two requests at the same time get the same new run. Answers its executionId. */
async function retryRun(deps: ApiDeps, run: ListedRun, retrier: Retrier): Promise<string> {
  const { within, projectId, environment = run.environment, keyId, modelKeys, signal } = retrier;
  const slugs = { organization: run.organization, project: run.project, flow: run.flow };
  const flow = await findRunnableFlow(deps, { ...slugs, within, version: run.version });
  if (!flow) throw flowNotFound();
  // Callers send no keys with a space.
  const once = `retry ${run.execution_id}`;
  const request = {
    ...{ slugs, flow, modelKeys, environment, keyId, pinned: true, body: undefined },
    requestId: retrier.requestId,
    idempotencyKey: {
      projectId,
      endpoint: 'jobs' as const,
      key: once,
      digest: createHash('sha256').update(once).digest(),
    },
  };
  const place = await deps.admission.enter(flow.organizationId, signal, { patient: true });
  try {
    const call = await acceptIdempotently(deps, request, () =>
      acceptRepeat(deps, request, run, 'retry', { once: true }),
    );
    if (call.outcome) place.end();
    else
      await startInPlace(deps, call, place).catch((error: unknown) =>
        // The run is stored: if its workflow cannot start now, the reconciler starts it.
        log.warn(
          { executionId: call.executionId, reason: describeEngineError(error) },
          'The run is accepted; a worker starts it, since its workflow could not be started yet.',
        ),
      );
    return call.executionId;
  } catch (error) {
    place.end();
    throw error instanceof PerhapsStored ? error.cause : error;
  }
}
