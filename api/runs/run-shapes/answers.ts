// The shapes of answers about runs, as the API reference shows them. Those of requests: requests.ts.
import { z } from 'zod';
import { STUCK_REASONS, type StuckRun } from '../../../db/runs/stuck-calls.ts';
import { RUN_MODES, RUN_OUTCOMES, RUN_STATUSES } from '../../../db/schema.ts';
import { DELIVERY_STATUSES, WEBHOOK_EVENTS } from '../../../flow/delivery.ts';
import { parsedObject } from '../../flows/written-flow.ts';
import { streamInterrupted } from '../../http/event-stream.ts';
import { errorCode } from '../../http/headers.ts';
import { pageOf } from '../../http/page.ts';
import { attachmentsField } from './attachments.ts';
import { blockRun, iterations, receipt } from './block-answers.ts';
import { blockRetrying, blockStarted, blockUnderWay } from './block-under-way.ts';
import { blockOverrides, outputsByStep } from './requests.ts';
import { toolFields } from './tool-fields.ts';
import { toolCallMessages, toolCalls } from './tool-requests.ts';

const stuck = z
  .object({
    reason: z.enum(STUCK_REASONS).meta({
      description:
        '`cancelling`: it was cancelled over two minutes ago, and no worker has ended it. `retrying`: a provider refused a block, which was tried four times or more. `crash_looping`: the workers were lost during three attempts at a block or more; it is retried, with up to 10 minutes between attempts. `waiting_for_model`: a block waits for a model, which has not answered for two minutes. `waiting`: no worker has begun its next block for two minutes.',
    }),
    since: z.iso.datetime(),
    errorMessage: z
      .string()
      .optional()
      .meta({ description: 'What the provider answered to the last attempt.' }),
    nextAttemptAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Stuck', description: 'Why the run makes no progress; only in lists with `stuck=true`.' });

const count = z.int().min(0);

export const executionId = z.uuid().meta({ description: 'The id of the run.' });
export const bulkId = z.uuid().meta({ description: 'The bulk retry that started the run.' });
const flowId = z.uuid();
const traceId = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .optional()
  .meta({
    description: 'The trace of the request that started the run; absent without tracing.',
  });
const blockCount = count.meta({ description: 'Number of blocks in the flow.' });
const failure = {
  code: errorCode,
  step_id: z.string().optional().meta({ description: 'The block or step that failed, where there is one.' }),
  iterations,
  errorMessage: z.string().meta({ description: 'What went wrong, and in which block.' }),
  failureReason: z.enum(['error', 'credits_exhausted', 'byok_rejected']),
};
// Not z.null(): openapi-fetch's types drop fields that can only be null.
const noResult = z.unknown().meta({ description: 'null' });
const result = z.unknown().meta({ description: 'The output of the last step, any JSON.' });

/** The fields of an answer when the run waits for tool results. */
const pauseFields = {
  pausedAtStep: z.string().meta({ description: 'The step_id of the paused block; echo.' }),
  iterationsUsed: count.meta({ description: 'Tool-call round-trips of this block so far; echo.' }),
  toolCallMessages: toolCallMessages.meta({ description: 'The conversation: append tool results and echo.' }),
  toolCalls,
  accumulatedOutputs: outputsByStep.meta({ description: 'Outputs of the earlier steps; echo.' }),
  resumeState: z.string().meta({ description: 'Opaque: echo it to have the rest verified.' }),
};
export const pausePoint = z.object(pauseFields);

const ofExecute = { flowId, blockCount, traceId, ...z.object(receipt).partial().shape };
/** One shape for each `status`, so that generated clients know its fields. */
export const executeResponse = z
  .discriminatedUnion('status', [
    z
      .object({ executionId, status: z.literal('completed'), result, ...ofExecute })
      .meta({ id: 'ExecuteCompleted' }),
    z
      .object({ executionId, status: z.literal('failed'), result: noResult, ...failure, ...ofExecute })
      .meta({ id: 'ExecuteFailed' }),
    z
      .object({ executionId, status: z.literal('tool_calls_required'), ...pauseFields, ...ofExecute })
      .meta({ id: 'ExecutePaused', description: 'The run waits for tool results.' }),
  ])
  .meta({ id: 'ExecuteResponse' });

export const jobAccepted = z
  .object({ executionId, status: z.literal('started'), flowId, blockCount, traceId })
  .meta({ id: 'JobAccepted' });

export const runState = z
  .object({
    executionId,
    status: z
      .enum(RUN_STATUSES)
      .meta({ description: 'A run that is `tool_calls_required` or `in_progress` waits for its caller.' }),
    outcome: z.enum(RUN_OUTCOMES).optional().meta({
      description:
        'How the run ended. `cancelled` and `refused` runs have the status `failed`; `refused`: by a provider or its model.',
    }),
    ...z.object(failure).partial().shape,
    flowId,
    blockCount,
    version: count.meta({ description: 'The version that runs; 0 is the draft.' }),
    mode: z
      .enum(RUN_MODES)
      .meta({ description: 'The endpoint that started the run; `test`: a test case started it.' }),
    environment: z.enum(['live', 'test']).meta({
      description: '`test` for runs of `test` keys, of drafts and of test cases; `live` for all others.',
    }),
    keyId: z.string().nullable().meta({
      description: 'The key_id of the API key that started the run; null when a user or a test case did.',
    }),
    startedBy: z.string().nullable().meta({
      description: 'The id of the user who started the run; null when an API key or a test case did.',
    }),
    traceId,
    repeats: z.uuid().nullable().meta({ description: 'The run that this run repeats; usually null.' }),
    repeatedBy: z.uuid().nullable().meta({
      description: 'The newest run that repeats this run or the same run; null when this is the newest.',
    }),
    bulk_id: bulkId.nullable(),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable().meta({ description: 'null until the run ends.' }),
    durationMs: count.nullable(),
    cost: z.number().meta({ description: 'Credits spent so far.' }),
    cancelledBy: z.string().optional().meta({
      description:
        'Who cancelled the run: a user id, `api_key/{key_id}`, `operator/{key_id}`, or `service`, for example for a run of a deleted project.',
    }),
    cancelledAt: z.iso.datetime().optional(),
    stuck: stuck.optional(),
  })
  .meta({ id: 'RunState' });

const ofRun = runState.omit({
  code: true,
  step_id: true,
  iterations: true,
  errorMessage: true,
  failureReason: true,
  stuck: true,
});
/** The deliveries that report the end of a run; none without a webhook. */
const deliveries = z
  .array(z.object({ id: z.uuid(), event: z.enum(WEBHOOK_EVENTS), status: z.enum(DELIVERY_STATUSES) }))
  .meta({ description: 'The webhook deliveries of the run.' });
/** The fields that `?receipt=false` leaves out. */
const ofReceipt = { blocks: receipt.blocks.optional(), notes: receipt.notes };

/** Makes the shape of a run of one status, with its blocks. */
function stateOf<S extends (typeof RUN_STATUSES)[number], T extends z.ZodRawShape>(
  id: string,
  status: S,
  fields: T,
) {
  return ofRun.extend({ status: z.literal(status), ...fields, ...ofReceipt }).meta({ id });
}

export const jobState = z
  .discriminatedUnion('status', [
    stateOf('JobStarted', 'started', {
      blocksUnderWay: z
        .array(blockUnderWay)
        .meta({ description: 'Blocks that take longer than one second, or were refused.' }),
    }),
    stateOf('JobCompleted', 'completed', { result, deliveries }),
    stateOf('JobFailed', 'failed', { ...failure, deliveries }),
    stateOf('JobPaused', 'tool_calls_required', pauseFields),
    stateOf('JobInProgress', 'in_progress', pausePoint.partial().shape),
  ])
  .meta({ id: 'JobState' });

export const runList = pageOf('RunList', 'runs', runState);

/** A run in a list over many flows. It has no block count, because that would load each flow. */
const listedRun = runState
  .omit({ blockCount: true })
  .extend({
    organization: z.string().meta({ description: 'The slug of the organization.' }),
    project: z.string().meta({ description: 'The slug of the project.' }),
    flow: z.string().meta({ description: 'The slug of the flow.' }),
  })
  .meta({ id: 'ListedRun' });
export const listedRuns = pageOf('ListedRuns', 'runs', listedRun);

export const runEvents = z
  .union([
    runState.meta({ description: 'run_started' }),
    runState.extend({ blocks: receipt.blocks, notes: receipt.notes }).meta({
      description:
        'run_completed and run_failed (GET …/jobs has the result); run_tool_calls_required and run_in_progress when the run waits for its caller',
    }),
    blockRun.meta({ description: 'block_completed, block_failed, block_paused, block_cancelled' }),
    blockStarted.meta({ description: 'block_started, before the end of each block' }),
    blockRetrying.meta({ description: 'block_retrying, when a provider refused a block' }),
    streamInterrupted,
  ])
  .meta({
    id: 'RunEvent',
    description: 'The `data` of an event, by the name of the event; `id` grows within a run.',
  });

export const stepCursor = z
  .object({
    // Generated clients have no type for null alone.
    executionId: z.null().meta({
      description: 'Always null, which starts a new session.',
      override: { type: ['string', 'null'] },
    }),
    version: z.int().meta({
      description:
        'Send the session to …/v{version}/step; 0 is the draft, whose sessions are sent to …/draft/step.',
    }),
    stepIndex: z.int(),
    accumulatedOutputs: outputsByStep.meta({ description: 'Outputs of the earlier steps.' }),
    message: z.string(),
    parameters: parsedObject,
    blockOverrides: blockOverrides.optional().meta({ description: 'Present when the run had some.' }),
    attachments: attachmentsField,
    ...toolFields,
  })
  .meta({ id: 'StepCursor' });

/** Describes why a run is stuck; {} for a run that makes progress. */
export function stuckField(run: StuckRun | undefined): { stuck?: z.output<typeof stuck> } {
  if (!run) return {};
  const { reason, since, lastError, nextAttemptAt } = run;
  return {
    stuck: {
      reason,
      since: since.toISOString(),
      ...(lastError !== null && { errorMessage: lastError }),
      ...(nextAttemptAt && { nextAttemptAt: nextAttemptAt.toISOString() }),
    },
  };
}
