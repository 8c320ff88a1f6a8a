// POST …/projects/{project_id}/runs/retry: retries the failed runs that a filter finds, each once.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { findRepetitions, repeatedAlready } from '../../db/runs/find-repetitions.ts';
import { listRunPage } from '../../db/runs/list-run-page.ts';
import { hasRun, type ListedRun } from '../../db/runs/list-runs.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { describeEngineError } from '../../engine/describe-engine-error.ts';
import { ServiceError } from '../../flow/errors.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { CANCELLED } from '../../flow/run.ts';
import { KEY_ID_PATTERN } from '../auth/api-key.ts';
import { identifyCaller } from '../auth/identify-caller.ts';
import { loadProject } from '../auth/load-project.ts';
import { writeAuthorized } from '../auth/write-authorized.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { STATUS } from '../http/errors.ts';
import { errorCode } from '../http/headers.ts';
import { problem, readBody, validationError } from '../http/json-body.ts';
import { unknownCursor } from '../http/page.ts';
import { accessOf } from '../http/principal.ts';
import { moment } from '../http/query.ts';
import { toServiceError } from '../http/to-service-error.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, examplesOf, refusal, thrownBy } from '../reference/operations.ts';
import { retriedRuns, retryFilter } from '../reference/run-examples.ts';
import { acceptIdempotently } from './accept-idempotently.ts';
import { acceptRepeat, requireRepeatable } from './accept-repeat.ts';
import { requireCredits } from './accept-run.ts';
import { startInPlace } from './admit.ts';
import { executionId, runState } from './answers.ts';
import { readerSignal } from './event-stream.ts';
import { findRunnableFlow, flowNotFound } from './load-flow.ts';
import { modelKeyHeaders, readModelKeys } from './read-model-keys.ts';
import { PerhapsStored } from './store-call.ts';

const RUNS_MAX = 100;
/** The errors after which no other run would be accepted either. */
const STOPPING = [402, 429, 500, 503];

const { mode, environment } = runState.shape;
const retryRequest = z
  .strictObject({
    flow: z.string().regex(SLUG_PATTERN, 'must be a slug').optional(),
    version: z
      .int()
      .min(1)
      .max(2 ** 31 - 1)
      .optional(),
    mode: mode.optional(),
    environment: environment.optional(),
    key: z.string().regex(KEY_ID_PATTERN, 'must be the key_id of an API key').optional(),
    since: moment.optional(),
    until: moment.optional(),
    limit: z.int().min(1).max(RUNS_MAX).default(RUNS_MAX),
    cursor: z.uuid('must be a nextCursor of this list').optional(),
  })
  .meta({ id: 'RetryRunsRequest' });

const refusedRun = z.object({ executionId, code: errorCode, errorMessage: z.string() });
const retryAnswer = z
  .object({
    retried: z
      .array(z.object({ executionId, repeats: z.uuid() }))
      .meta({ description: 'The new runs; `repeats` is the failed one.' }),
    refused: z.array(refusedRun).meta({ description: 'Failed runs that were not retried, with the reason.' }),
    stoppedBy: errorCode.nullable().meta({
      description: 'The error, such as INSUFFICIENT_CREDITS, for which no further run was tried.',
    }),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable().meta({ description: 'Send it as `cursor` to go on.' }),
  })
  .meta({ id: 'RetriedRuns' });

/** Describes the endpoint that retries failed runs of a project. */
export function retryRunsRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${PROJECTS_PATH}/:project_id/runs/retry`,
      operation: {
        operationId: 'retryRuns',
        summary: 'Retry the failed runs of a project that a filter finds',
        description: `Retries up to ${RUNS_MAX} failed runs, the newest first, each as …/retry does. Refuses runs that were run again before, in whatever way, that are themselves such repetitions, or that were cancelled: the request may be repeated.`,
        tags: ['Runs'],
        requestParams: { header: modelKeyHeaders },
        requestBody: body(retryRequest, { flow: retryFilter }),
        responses: {
          200: answer('The new runs are accepted.', retryAnswer, { retried: retriedRuns }),
          ...PROJECT_ERRORS,
          402: refusal(
            'The organization has no credits left, and no run was retried.',
            examplesOf(thrownBy(() => requireCredits({ balanceMicrocredits: 0 }))),
          ),
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run'),
        loadProject(deps, 'member'),
        refuseQuery,
        readBody(deps, retryRequest),
        readModelKeys(deps),
        retryRuns(deps),
      ],
    },
  ];
}

/** Refuses a filter in the address: without it, the request would retry every failed run. */
const refuseQuery: ApiMiddleware = async function refuseQuery(ctx, next) {
  const [parameter] = Object.keys(ctx.query);
  if (parameter === undefined) return next();
  const message =
    'is not read from the address: send the filter as JSON in the body, such as {"flow": "hello"}';
  throw validationError(problem([parameter], message));
};

function retryRuns(deps: ApiDeps): ApiMiddleware {
  const { db } = deps;
  return async function retryRuns(ctx) {
    const { cursor, ...filter } = ctx.state.body as z.output<typeof retryRequest>;
    const { id: projectId, organization_id: organizationId } = ctx.state.project;
    if (cursor !== undefined && !(await hasRun(db, { projectId }, cursor))) throw unknownCursor();
    // Authorized again, since the body may have taken its time.
    const author = await writeAuthorized(db, ctx.state, async (_, author) => author);
    const { runs, next } = await listRunPage(db, { projectId, status: 'failed', ...filter, after: cursor });
    const { retried, refused, stoppedBy, last } = await retryEach(deps, ctx, runs);
    const details = { ...filter, cursor, retried: retried.length };
    await inTransaction(db, (tx) =>
      recordChange(tx, author, {
        ...{ organizationId, action: 'runs.retry', resourceId: projectId },
        details: JSON.parse(JSON.stringify(details)),
      }),
    );
    const nextCursor = stoppedBy === null ? next : (last ?? cursor ?? null);
    ctx.body = { retried, refused, stoppedBy, hasMore: stoppedBy !== null || next !== null, nextCursor };
  };
}

/**
 * Retries the runs one by one, up to an error after which no other would be accepted (`stoppedBy`), which is thrown when none was
 * retried. `last` is the last run before it.
 */
async function retryEach(deps: ApiDeps, ctx: ApiContext, runs: ListedRun[]) {
  const ids = runs.map((run) => run.execution_id);
  const repeated = await findRepetitions(deps.db, ids);
  const retried: { executionId: string; repeats: string }[] = [];
  const refused: z.input<typeof refusedRun>[] = [];
  let last: string | undefined;
  for (const run of runs) {
    const id = run.execution_id;
    try {
      const earlier = repeated.get(id);
      if (earlier) throw repeatedAlready(earlier);
      requireLeftAlone(run);
      retried.push({ executionId: await retryRun(deps, ctx, run), repeats: id });
    } catch (error) {
      const line = `${ctx.method} ${ctx.req.url}, retrying ${id},`;
      const refusal = toServiceError(error, { requestId: ctx.state.requestId, line, mayWrite: true });
      const { code, message } = refusal;
      if (STOPPING.includes(STATUS[code])) {
        if (retried.length === 0) throw refusal;
        return { retried, refused, stoppedBy: code, last };
      }
      refused.push({ executionId: id, code, errorMessage: message });
    }
    last = id;
  }
  return { retried, refused, stoppedBy: null, last };
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
async function retryRun(deps: ApiDeps, { state, res }: ApiContext, run: ListedRun): Promise<string> {
  requireRepeatable(run, 'retry');
  const { principal, key, modelKeys, project } = state;
  const slugs = { organization: run.organization, project: run.project, flow: run.flow };
  const flow = await findRunnableFlow(deps, { ...slugs, within: accessOf(principal), version: run.version });
  if (!flow) throw flowNotFound();
  // Callers send no keys with a space.
  const once = `retry ${run.execution_id}`;
  const request = {
    ...{ slugs, flow, modelKeys, pinned: true, body: undefined },
    ...{ environment: principal.environment, keyId: key?.key_id },
    idempotencyKey: {
      projectId: project.id,
      endpoint: 'jobs' as const,
      key: once,
      digest: createHash('sha256').update(once).digest(),
    },
  };
  const signal = () => readerSignal(res, deps.cutOff);
  const place = await deps.admission.enter(flow.organizationId, signal, { patient: true });
  try {
    const call = await acceptIdempotently(deps, request, () =>
      acceptRepeat(deps, request, run, 'retry', { once: true }),
    );
    if (call.outcome) place.end();
    else
      await startInPlace(deps, call, place).catch((error: unknown) =>
        // The run is stored: if its workflow cannot start now, the reconciler starts it.
        console.error(`Run ${call.executionId} could not be started yet: ${describeEngineError(error)}`),
      );
    return call.executionId;
  } catch (error) {
    place.end();
    throw error instanceof PerhapsStored ? error.cause : error;
  }
}
