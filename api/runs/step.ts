// POST …/step: one step of a flow per call, as Server-Sent Events (docs/step-by-step.md).
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { ToolCallMessage } from '../../flow/tool-calls.ts';
import type { Permit } from '../../platform/limits/fair-queue.ts';
import { waitForRun } from '../../temporal/wait-for-run.ts';
import { mayStillRead } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, ApiState, Route } from '../http/context.ts';
import {
  createEventStream,
  EVENT_STREAM_HEADERS,
  formatEvent,
  HEARTBEAT,
  RETRY,
} from '../http/event-stream.ts';
import { idempotentReplayed, rateLimitHeaders } from '../http/headers.ts';
import { idempotencyHeaders } from '../http/idempotency-header.ts';
import { readBody, validationError } from '../http/json-body.ts';
import { holdOpen } from '../http/open-requests.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveEvent } from '../http/reserve-bytes.ts';
import { body } from '../reference/operations.ts';
import { firstStepRequest, nextStepRequest } from '../reference/run-examples.ts';
import { acceptCall, findAcceptedCall, readCallOptions } from './calls/accept-idempotently.ts';
import { acceptStep } from './calls/accept-step.ts';
import { admit, startAdmitted, takePermit } from './calls/admit.ts';
import { requireFewOverrides } from './calls/check-request.ts';
import { isLastRound, requirePauseAllowed } from './calls/check-resume.ts';
import { ifMatchDraft } from './calls/load-flow.ts';
import { modelKeyHeaders } from './calls/read-model-keys.ts';
import { refuseIdleOfStep } from './calls/refuse-without-effect.ts';
import { isOfSameKind } from './calls/session.ts';
import type { AcceptedCall } from './calls/store-call.ts';
import { runErrors, STEP_ERROR_EXAMPLES, TOOL_ERROR_EXAMPLES } from './run-errors.ts';
import { runPaths } from './run-paths.ts';
import { receipt, receiptParameter } from './run-shapes/block-answers.ts';
import {
  draftStepRequest,
  type StepRequest,
  stepEventSchema,
  stepRequest,
} from './run-shapes/step-requests.ts';
import { describeProblems, EXCESS_MESSAGES, requireMessagesFit } from './run-shapes/tool-requests.ts';
import { type StepEvent, stepEvents } from './step-events.ts';
import type { Updates } from './updates.ts';

/** The events before a step's result. */
const BEGINNING = ['run_started', 'block_started', 'block_retrying'];

type PauseData = { pausedAtStep: string; iterationsUsed: number; toolCallMessages: ToolCallMessage[] };

const ENGINE_UNAVAILABLE =
  'The step is stored and will run when the engine is back. Poll …/jobs/{executionId}, or repeat the request with the same Idempotency-Key; without one, the request sent again runs the step again.';

const KEPT = 'The call runs to its end even when its reader has gone.';
const OPERATIONS = {
  production: {
    operationId: 'step',
    summary: 'Run one step of the production version',
    description: `Pin a version, so that the tree of steps stays the same. ${KEPT}`,
  },
  version: {
    operationId: 'stepVersion',
    summary: 'Run one step of a published version',
    description: `The tree of steps stays the same while every call of a session names the same version. ${KEPT}`,
  },
  draft: {
    operationId: 'stepDraft',
    summary: 'Run one step of the draft',
    description: `Each call of a session runs the current draft. ${KEPT}`,
  },
};

const stepQuery = z.strictObject({ receipt: receiptParameter });
const EVENT_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d{1,9})$/;
const stepHeaders = idempotencyHeaders.extend({
  ...modelKeyHeaders.shape,
  'Last-Event-ID': z.string().regex(EVENT_ID, 'must be the id of an event of /step').optional().meta({
    description: 'The id of the last event you received of this call. The events after it are sent.',
  }),
});

/** Lists the endpoints that run flows step by step. */
export function stepRoutes(deps: ApiDeps, updates: Updates): Route[] {
  return runPaths(deps, '/step').map(({ path, target, identify, load }) => ({
    method: 'post',
    path,
    operation: {
      ...OPERATIONS[target],
      tags: ['Execution'],
      requestParams: {
        header: target === 'draft' ? stepHeaders.extend(ifMatchDraft.shape) : stepHeaders,
        query: stepQuery,
      },
      requestBody: body(target === 'draft' ? draftStepRequest : stepRequest, {
        first: firstStepRequest,
        next: nextStepRequest,
      }),
      responses: {
        200: {
          description:
            'The events of this call, in this order. Their `id` names the call and the event; events of blocks inside a step have none.',
          headers: z.object({ ...rateLimitHeaders, 'Idempotent-Replayed': idempotentReplayed }),
          content: { 'text/event-stream': { schema: stepEventSchema } },
        },
        204: {
          description: 'The call has ended, and there is nothing after Last-Event-ID.',
          headers: z.object(rateLimitHeaders),
        },
        ...runErrors(
          {
            ...TOOL_ERROR_EXAMPLES,
            400: { ...TOOL_ERROR_EXAMPLES[400], ...STEP_ERROR_EXAMPLES[400] },
            404: STEP_ERROR_EXAMPLES[404],
            409: { ...TOOL_ERROR_EXAMPLES[409], ...STEP_ERROR_EXAMPLES[409] },
            503: {
              ENGINE_UNAVAILABLE: { message: ENGINE_UNAVAILABLE, executionId: nextStepRequest.executionId },
            },
          },
          target,
        ),
      },
    },
    handlers: [
      ...identify,
      ...load,
      holdOpen(deps, 'call'),
      admitNew(deps),
      readBody(deps, target === 'draft' ? draftStepRequest : stepRequest, {
        excess: EXCESS_MESSAGES,
        before: [requireMessagesFit, requireFewOverrides, refuseIdleOfStep],
        describe: describeProblems,
      }),
      readCallOptions(deps, 'step', stepQuery),
      step(deps, updates),
    ],
  }));
}

/** Admits the request as `admit` does, unless the call was accepted before: its client starts no run. */
function admitNew(deps: ApiDeps): ApiMiddleware {
  const enter = admit(deps);
  return async function admit(ctx, next) {
    await (ctx.get('last-event-id') === '' ? enter(ctx, next) : next());
  };
}

function step(deps: ApiDeps, updates: Updates): ApiMiddleware {
  return async function step(ctx) {
    const last = readLastEventId(ctx.get('last-event-id'));
    const run = last
      ? await getCall(deps, ctx.state, last.callId)
      : await acceptCall<StepRequest>(deps, ctx, (request) => acceptStep(deps, request));
    const { principal } = ctx.state;
    const { organizationId } = ctx.state.flow;
    const resumes = !last && (ctx.state.body as StepRequest).toolCallMessages !== undefined;
    ctx.state.releaseBody();
    const signal = readerSignal(ctx.res, deps.cutOff);
    const { ended } = run.outcome
      ? { ended: Promise.resolve(run.outcome) }
      : last
        ? follow(deps, run, signal)
        : await start(deps, run, takePermit(ctx.state), signal);
    const events = stepEvents(deps, updates, run, ended, {
      organizationId,
      mayRead: () => mayStillRead(deps, principal, organizationId),
      reserve: (bytes) => reserveEvent(deps, organizationId, bytes, signal),
      signal,
    });
    const gone = readerSignal(ctx.res);
    const begun = resumes ? await refuseBeyondCap(deps, organizationId, run, events, gone) : events;
    const { receipt: hasReceipt } = ctx.state.query as z.infer<typeof stepQuery>;
    const shown = hasReceipt ? begun : withoutReceipts(begun);
    const texts = format(shown, run.callId, last?.number ?? 0);
    const first = last && run.outcome ? await texts.next() : undefined;
    if (first?.done) {
      ctx.status = 204;
      return;
    }
    ctx.set(EVENT_STREAM_HEADERS);
    ctx.body = createEventStream(run.executionId, beginStream(first?.value, texts));
  };
}

/**
 * Starts the workflow of a call. Resolves once the workflow exists, before the response begins; `ended` is its end.
 */
async function start(deps: ApiDeps, run: AcceptedCall, permit: Permit | undefined, signal: AbortSignal) {
  const started = startAdmitted(deps, run, permit);
  const ended = waitForRun(deps, run, started, signal);
  ended.catch(() => undefined);
  await started.catch(() => {
    throw new ServiceError('ENGINE_UNAVAILABLE', ENGINE_UNAVAILABLE, { executionId: run.executionId });
  });
  return { ended };
}

/** Waits for the end of an earlier call. A client that reconnects starts nothing. */
function follow(deps: ApiDeps, run: AcceptedCall, signal: AbortSignal) {
  const ended = waitForRun(deps, run, Promise.resolve({ here: false }), signal);
  ended.catch(() => undefined);
  return { ended };
}

/** Formats the events, numbered from 1 except inner ones, and leaves out events that the client has. */
async function* format(
  events: AsyncGenerator<StepEvent>,
  callId: string,
  after: number,
): AsyncGenerator<string> {
  let number = 0;
  for await (const event of events) {
    if (event === HEARTBEAT) yield HEARTBEAT;
    else if ('isInner' in event) {
      if (number >= after) yield formatEvent(undefined, event.name, event.data);
    } else if (++number > after) yield formatEvent(`${callId}:${number}`, event.name, event.data);
  }
}

async function* withoutReceipts(events: AsyncGenerator<StepEvent>): AsyncGenerator<StepEvent> {
  for await (const event of events) {
    if (event === HEARTBEAT) yield event;
    else {
      const kept = Object.entries(event.data).filter(([key]) => !(key in receipt));
      yield { ...event, data: Object.fromEntries(kept) };
    }
  }
}

async function* beginStream(first: string | undefined, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield RETRY;
  if (first !== undefined) yield first;
  yield* rest;
}

function readLastEventId(sent: string): { callId: string; number: number } | undefined {
  if (sent === '') return undefined;
  const [, callId, number] = EVENT_ID.exec(sent) ?? [];
  if (callId !== undefined) return { callId, number: Number(number) };
  const parsed = stepHeaders.pick({ 'Last-Event-ID': true }).safeParse({ 'Last-Event-ID': sent });
  throw validationError(parsed.error as z.ZodError);
}

/**
 * Gets the call whose events are requested again. It must belong to this flow, and to the session and step of the
 * body.
 */
async function getCall(
  deps: ApiDeps,
  { flow, body }: Pick<ApiState, 'flow' | 'body'>,
  callId: string,
): Promise<AcceptedCall> {
  const run = await findAcceptedCall(deps, callId);
  const { executionId, stepIndex } = body as StepRequest;
  if (
    run?.mode !== 'step' ||
    run.flowId !== flow.flowId ||
    !isOfSameKind(run, flow) ||
    // The session itself is not one of its calls.
    run.callId === run.executionId ||
    (executionId ?? run.executionId) !== run.executionId
  )
    throw new ServiceError('RUN_NOT_FOUND', 'Last-Event-ID does not belong to a call of this session.');
  if (run.from !== stepIndex)
    throw new ServiceError(
      'RUN_NOT_FOUND',
      `Last-Event-ID belongs to a call of step ${run.from}, and stepIndex is ${stepIndex}: send the request of that call, or leave Last-Event-ID out.`,
    );
  return run;
}

/**
 * Returns all events of a tool resume. When the model may not ask for tools again, waits for its answer first and
 * throws TOOL_ITERATION_LIMIT if it does, because an HTTP error is possible only before the stream begins. Ends the
 * events when the client has `gone`: they keep memory for the last event, and an unread stream ends nothing.
 */
export async function refuseBeyondCap(
  deps: ApiDeps,
  organizationId: string,
  run: AcceptedCall,
  events: AsyncGenerator<StepEvent>,
  gone: AbortSignal,
): Promise<AsyncGenerator<StepEvent>> {
  if (!(await isLastRound(deps, organizationId, run, gone))) return events;
  const end = () => void events.return(undefined).catch(() => undefined);
  if (gone.aborted) end();
  else gone.addEventListener('abort', end, { once: true });
  const begun: StepEvent[] = [];
  const failure = await readBeginning(events, begun).catch((error: unknown) => ({ error }));
  const last = begun.at(-1);
  if (last && last !== HEARTBEAT && last.name === 'step_paused_for_tool_calls')
    try {
      await requirePauseAllowed(deps, run, last.data as PauseData);
    } catch (error) {
      await events.return(undefined);
      throw error;
    }
  return continueAfter(begun, failure, events);
}

/** Reads events into `begun`, up to the first event with the step's result. */
async function readBeginning(events: AsyncGenerator<StepEvent>, begun: StepEvent[]): Promise<undefined> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) return;
    begun.push(value);
    if (value !== HEARTBEAT && !BEGINNING.includes(value.name)) return;
  }
}

async function* continueAfter(
  begun: StepEvent[],
  failure: { error: unknown } | undefined,
  events: AsyncGenerator<StepEvent>,
): AsyncGenerator<StepEvent> {
  yield* begun;
  if (failure) throw failure.error;
  yield* events;
}
