// POST …/jobs/{executionId}/rerun and …/retry: a stored run once more, as a job.
import { identifyCaller } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { idempotencyHeaders } from '../http/idempotency-header.ts';
import { readOptionalBody } from '../http/json-body.ts';
import { accessOf } from '../http/principal.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { examplesOf, optionalBody, RUN_PATH, runAnswer, thrownBy } from '../reference/operations.ts';
import { repeatedRun } from '../reference/run-examples.ts';
import { acceptCall, readCallOptions } from './calls/accept-idempotently.ts';
import { acceptRepeat, needsCaller, requireModelKeys, requireRepeatable } from './calls/accept-repeat.ts';
import { admit } from './calls/admit.ts';
import { tooLarge } from './calls/collect-outputs.ts';
import { answerJob } from './calls/describe-outcome.ts';
import {
  flowNotFound,
  loadFlowIds,
  loadRun,
  loadRunnableFlow,
  runOfFlowNotFound,
} from './calls/load-flow.ts';
import { modelKeyHeaders } from './calls/read-model-keys.ts';
import { runErrors } from './run-errors.ts';
import {
  describeRepetition,
  type Repetition,
  repeatAccepted,
  repeatRequest,
  toVersion,
  type VersionChoice,
} from './run-shapes/repetitions.ts';

const SUMMARY: { [how in Repetition]: string } = {
  rerun: 'Run a stored run again from its beginning',
  retry: 'Run a failed run again from the step that failed',
};
const DESCRIPTION: { [how in Repetition]: string } = {
  rerun: '',
  retry:
    ' It begins with the first step that did not complete or that another version has changed, and takes the outputs of those before from the failed run. Blocks that were completed inside this step, such as the items of a loop, are not run again when the step has not changed.',
};

/** Lists the endpoints that run stored runs again. */
export function repeatRoutes(deps: ApiDeps): Route[] {
  return (['rerun', 'retry'] as const).map(
    (how): Route => ({
      method: 'post',
      path: `${RUN_PATH}/${how}`,
      operation: {
        operationId: `${how}Job`,
        summary: SUMMARY[how],
        description: `The new run is a job with the same input, overrides, maxCredits and callbackUrl, and of the same version unless \`version\` says otherwise.${DESCRIPTION[how]}`,
        tags: ['Execution'],
        requestParams: { header: idempotencyHeaders.extend(modelKeyHeaders.shape) },
        requestBody: optionalBody(repeatRequest, { production: { version: 'production' } }),
        responses: {
          202: runAnswer('The new run is accepted; `repeats` names the other one.', repeatAccepted, {
            accepted: repeatedRun,
          }),
          ...errors(how),
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run'),
        loadFlowIds(deps),
        loadRun(deps),
        readOptionalBody(deps, repeatRequest),
        loadFlowOfRun(deps),
        admit(deps, { priority: 'low', hasBody: false }),
        readCallOptions(deps, 'jobs'),
        repeat(deps, how),
      ],
    }),
  );
}

function errors(how: Repetition) {
  return runErrors({
    404: examplesOf(runOfFlowNotFound()),
    409: examplesOf(
      how === 'retry'
        ? thrownBy(() => requireRepeatable({ version: 1, mode: 'jobs', status: 'completed' }, how))
        : needsCaller(),
    ),
    413: how === 'retry' ? examplesOf(tooLarge('topics')) : undefined,
    422: examplesOf(thrownBy(() => requireModelKeys(['openai'], []))),
  });
}

/** Loads the flow of the run into `ctx.state.flow` and `slugs`, in the version that is to run. */
function loadFlowOfRun(deps: ApiDeps): ApiMiddleware {
  return async function loadFlowOfRun(ctx, next) {
    const { org: organization = '', project = '', flow = '' } = ctx.params;
    const { run, principal } = ctx.state;
    requireRepeatable(run, 'rerun');
    const { version: choice } = ctx.state.body as { version: VersionChoice };
    const version = toVersion(choice, run.version);
    const query = { organization, project, flow, within: accessOf(principal), version };
    const found = await loadRunnableFlow(deps, query, () => readerSignal(ctx.res));
    if (!found) throw flowNotFound(version);
    ctx.state.flow = found;
    ctx.state.slugs = { organization, project, flow };
    await next();
  };
}

function repeat(deps: ApiDeps, how: Repetition): ApiMiddleware {
  return async function repeat(ctx) {
    const { run, principal } = ctx.state;
    // A user starts a live run, and repeats runs of both environments.
    const kept = principal.kind === 'user' && { environment: run.environment };
    const call = await acceptCall(deps, ctx, (request) =>
      acceptRepeat(deps, { ...request, ...kept }, run, how),
    );
    await answerJob(deps, ctx, call);
    ctx.body = { ...(ctx.body as object), ...(await describeRepetition(deps, how, run, call)) };
  };
}
