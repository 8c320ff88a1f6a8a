// POST …/step: one step of a flow per call, as Server-Sent Events (spec: Endpoints, Step-through stream events).
import { z } from 'zod';
import { describeEngineError } from '../../engine/describe-engine-error.ts';
import { startRun } from '../../engine/start-run.ts';
import { waitForRun } from '../../engine/wait-for-run.ts';
import { ServiceError } from '../../flow/errors.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { idempotentReplayed, rateLimitHeaders } from '../http/headers.ts';
import { takeForEvent } from '../http/hold-answer-bytes.ts';
import { readBody, validationError } from '../http/json-body.ts';
import { body, flowPaths } from '../reference/operations.ts';
import { runErrors } from '../reference/run-errors.ts';
import { firstStepRequest, nextStepRequest } from '../reference/run-examples.ts';
import { STEP_REFUSALS, TOOL_REFUSALS } from '../reference/tool-refusals.ts';
import { acceptIdempotently, findAcceptedRun } from './accept-idempotently.ts';
import type { AcceptedRun } from './accept-run.ts';
import { acceptStep } from './accept-step.ts';
import { answerEvents, formatEvent, HEARTBEAT, mayRead, RETRY, readerSignal } from './event-stream.ts';
import { loadFlow } from './load-flow.ts';
import { readIdempotencyKey } from './read-idempotency-key.ts';
import { modelKeyHeaders, readModelKeys } from './read-model-keys.ts';
import { idempotencyHeaders } from './requests.ts';
import { requireFewOverrides } from './require-valid-overrides.ts';
import { type StepEvent, stepEvents } from './step-events.ts';
import { type StepRequest, stepEvents as stepEventSchema, stepRequest } from './step-requests.ts';
import { describeProblems, refuseExcessMessages, requireMessagesFit } from './tool-requests.ts';

const ENGINE_UNAVAILABLE =
  'The step is accepted and runs when the engine answers again: ask for …/jobs/{executionId}.';

const EVENT_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d{1,9})$/;
const stepHeaders = idempotencyHeaders.extend({
  ...modelKeyHeaders.shape,
  'Last-Event-ID': z
    .string()
    .regex(EVENT_ID, 'is the id of an event of /step')
    .optional()
    .meta({ description: 'The last event received of a call that is sent again: what followed it is sent.' }),
});

/** Runs flows step by step. */
export function stepRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/step').map(({ path, versioned }) => ({
    method: 'post',
    path,
    operation: {
      operationId: versioned ? 'stepVersion' : 'step',
      summary: versioned ? 'Run one step of a published version' : 'Run one step of the production version',
      description:
        'Pin a version, so that the step tree stays as it is. The call runs to its end also when its reader is gone.',
      tags: ['Execution'],
      requestParams: { header: stepHeaders },
      requestBody: body(stepRequest, { first: firstStepRequest, next: nextStepRequest }),
      responses: {
        200: {
          description: 'The events of this call, in this order; `id` names the call and the event.',
          headers: z.object({ ...rateLimitHeaders, 'Idempotent-Replayed': idempotentReplayed }),
          content: { 'text/event-stream': { schema: stepEventSchema } },
        },
        ...runErrors({
          ...TOOL_REFUSALS,
          400: { ...TOOL_REFUSALS[400], ...STEP_REFUSALS[400] },
          404: STEP_REFUSALS[404],
          409: { ...TOOL_REFUSALS[409], ...STEP_REFUSALS[409] },
          503: {
            ENGINE_UNAVAILABLE: { message: ENGINE_UNAVAILABLE, executionId: nextStepRequest.executionId },
          },
        }),
      },
    },
    handlers: [
      authenticate(deps),
      limitRate(deps),
      loadFlow(deps),
      readBody(stepRequest, {
        excess: refuseExcessMessages,
        before: [requireMessagesFit, requireFewOverrides],
        describe: describeProblems,
      }),
      readIdempotencyKey('step'),
      readModelKeys(deps),
      step(deps),
    ],
  }));
}

function step(deps: ApiDeps): ApiMiddleware {
  return async function step(ctx) {
    const last = readLastEventId(ctx);
    const run = last
      ? await findCall(deps, ctx, last.call)
      : await acceptIdempotently(deps, ctx, () => acceptStep(deps, ctx));
    ctx.state.dropBody();
    const signal = readerSignal(ctx, deps.cutOff);
    const { ended } = run.outcome ? { ended: Promise.resolve(run.outcome) } : await start(deps, run, signal);
    const events = stepEvents(deps, run, ended, {
      mayRead: () => mayRead(deps, ctx),
      take: (bytes) => takeForEvent(ctx, bytes, signal),
      signal,
    });
    answerEvents(ctx, run.executionId, format(events, run.callId, last?.number ?? 0));
  };
}

/** Resolves, to the promise of its end, when the call has a workflow: nothing is answered before. */
async function start(deps: ApiDeps, run: AcceptedRun, signal: AbortSignal) {
  const started = startRun(deps, run);
  const ended = waitForRun(deps, run, started, signal);
  ended.catch(() => undefined);
  await started.catch((error: unknown) => {
    const { executionId } = run;
    console.error(`A step of run ${executionId} could not be started yet: ${describeEngineError(error)}`);
    throw new ServiceError('ENGINE_UNAVAILABLE', ENGINE_UNAVAILABLE, { executionId });
  });
  return { ended };
}

/** Numbers the events from 1, and leaves those out that the reader has. */
async function* format(
  events: AsyncGenerator<StepEvent>,
  call: string,
  after: number,
): AsyncGenerator<string> {
  yield RETRY;
  let number = 0;
  for await (const event of events) {
    if (event === HEARTBEAT) yield HEARTBEAT;
    else if (++number > after) yield formatEvent(`${call}:${number}`, event.name, event.data);
  }
}

function readLastEventId(ctx: ApiContext): { call: string; number: number } | undefined {
  const sent = ctx.get('last-event-id');
  if (sent === '') return undefined;
  const [, call, number] = EVENT_ID.exec(sent) ?? [];
  if (call !== undefined) return { call, number: Number(number) };
  const parsed = stepHeaders.pick({ 'Last-Event-ID': true }).safeParse({ 'Last-Event-ID': sent });
  throw validationError(parsed.error as z.ZodError);
}

/** The call whose events are asked for again: one of this flow, and of the session the body names. */
async function findCall(deps: ApiDeps, ctx: ApiContext, call: string): Promise<AcceptedRun> {
  const run = await findAcceptedRun(deps, call);
  const { executionId } = ctx.state.body as StepRequest;
  if (
    run?.mode !== 'step' ||
    run.flowId !== ctx.state.flow.flowId ||
    (executionId ?? run.executionId) !== run.executionId
  )
    throw new ServiceError('RUN_NOT_FOUND', 'Last-Event-ID is of no call of this session.');
  return run;
}
