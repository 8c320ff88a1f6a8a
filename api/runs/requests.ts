// Shapes of requests and answers: what validates is what the API reference shows (spec: Endpoints).
import { z } from 'zod';
import { IDEMPOTENCY_KEY_HOURS } from '../../db/runs/idempotency-keys.ts';
import { RUN_MODES, RUN_STATUSES } from '../../db/schema.ts';
import { blockFields, parsedObject, processorConfig } from '../flows/written-flow.ts';
import { streamInterrupted } from '../http/stream-interruption.ts';
import { attachmentsField } from './attachments.ts';
import { callbackFields } from './callback-fields.ts';
import { maxCredits } from './max-credits.ts';
import { blockRun, receipt } from './receipt.ts';
import { resumeFields, toolCallMessages, toolCalls, toolFields } from './tool-requests.ts';

/** No number here is ever negative. */
const count = z.int().min(0);

const blockOverride = z
  .strictObject({
    ...blockFields,
    processor_config: processorConfig.omit({ tools_enabled: true }).optional(),
  })
  .meta({
    id: 'BlockOverride',
    description: 'Replaces fields of one block for this run only; never its type or code.',
  });

export const blockOverrides = z.record(z.string(), blockOverride);
export const outputsByStep = parsedObject;

export const runFields = {
  message: z.string().meta({ description: 'The primary input.' }),
  parameters: parsedObject
    .optional()
    .meta({ description: 'Extra inputs to blocks. The key `attachments` is reserved.' }),
  attachments: attachmentsField,
  block_overrides: blockOverrides.optional().meta({ description: 'Overrides by step_id.' }),
  maxCredits,
};
const ignored = z.unknown().optional().meta({ description: 'Ignored: only asynchronous runs call back.' });

/** The rest of a pause: its answer may be sent back as it is. */
const echo = z
  .unknown()
  .optional()
  .meta({ description: 'Ignored: part of a pause that is sent back whole.' });
const echoed = { status: echo, toolCalls: echo, flowId: echo, blockCount: echo, cost: echo, blocks: echo };

export const executeRequest = z
  .strictObject({
    ...runFields,
    message: runFields.message.optional().meta({ description: 'The primary input; ignored on resume.' }),
    ...toolFields,
    executionId: z.string().optional().meta({ description: 'On resume: echo.' }),
    pausedAtStep: z.string().optional().meta({ description: 'On resume: echo.' }),
    ...resumeFields,
    accumulatedOutputs: outputsByStep.optional().meta({ description: 'On resume: echo.' }),
    callbackUrl: ignored,
    callbackEvents: ignored,
    ...echoed,
  })
  .meta({
    id: 'ExecuteRequest',
    description:
      'A fresh call needs `message`; a resume `executionId`, `pausedAtStep` and `toolCallMessages`.',
  });
export type ExecuteRequest = z.infer<typeof executeRequest>;
export const jobRequest = z
  .strictObject({
    ...runFields,
    ...callbackFields,
    tools: z.unknown().optional().meta({ description: 'Refused with 405: tool calls need /execute.' }),
    toolChoice: toolFields.toolChoice,
  })
  .meta({ id: 'JobRequest' });
export type JobRequest = z.infer<typeof jobRequest>;
export type RunRequest = ExecuteRequest | JobRequest;

const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

export const idempotencyHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(IDEMPOTENCY_KEY_MAX_LENGTH)
    .regex(/^[!-~]*$/, 'takes visible ASCII characters only, no spaces')
    .optional()
    .meta({
      description: `A new value for each new request, the same when it is repeated: within ${IDEMPOTENCY_KEY_HOURS} hours the repeated request gets the first one’s run and answer.`,
    }),
});

export const executionId = z.uuid().meta({ description: 'Identifies the run.' });
const flowId = z.uuid();
const blockCount = count.meta({ description: 'Number of blocks of the flow.' });
const failure = {
  errorMessage: z.string().optional().meta({ description: 'On failed: what went wrong, in which block.' }),
  failureReason: z.enum(['error', 'credits_exhausted', 'byok_rejected']).optional(),
};

/** What an answer has only where the run waits for its caller's tools. */
const pauseFields = {
  pausedAtStep: z.string().meta({ description: 'The step_id of the paused block; echo.' }),
  iterationsUsed: count.meta({ description: 'Round-trips of this block so far; echo.' }),
  toolCallMessages: toolCallMessages.meta({ description: 'The conversation: append tool results and echo.' }),
  toolCalls,
  accumulatedOutputs: outputsByStep.meta({ description: 'Outputs of the steps before; echo.' }),
  resumeState: z.string().meta({ description: 'Opaque: echo it to have the rest verified.' }),
};
export const pausePoint = z.object(pauseFields);

export const executeResponse = z
  .object({
    executionId,
    status: z.enum(['completed', 'failed', 'tool_calls_required']),
    result: z
      .unknown()
      .optional()
      .meta({ description: 'Any JSON: the output of the last step; null on failed.' }),
    ...failure,
    ...pausePoint.partial().shape,
    flowId,
    blockCount,
    ...receipt,
  })
  .meta({ id: 'ExecuteResponse' });

export const jobAccepted = z
  .object({ executionId, status: z.literal('started'), flowId, blockCount })
  .meta({ id: 'JobAccepted' });

export const runState = z
  .object({
    executionId,
    status: z
      .enum(RUN_STATUSES)
      .meta({ description: '`tool_calls_required` and `in_progress` wait for their caller.' }),
    ...failure,
    flowId,
    blockCount,
    version: count.meta({ description: 'The version that runs; 0: a draft under test.' }),
    mode: z.enum(RUN_MODES).meta({ description: 'The endpoint that started it; `test`: a test case.' }),
    environment: z.enum(['live', 'test']).meta({ description: 'Of the API key that started it.' }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable().meta({ description: 'null while it runs.' }),
    durationMs: count.nullable(),
    cost: z.number().meta({ description: 'Credits spent so far.' }),
  })
  .meta({ id: 'RunState' });

export const jobState = runState
  .extend({
    result: z.unknown().optional().meta({ description: 'On completed: any JSON.' }),
    ...pausePoint.partial().shape,
    blocks: receipt.blocks,
  })
  .meta({ id: 'JobState' });

export const runList = z
  .object({
    runs: z.array(runState),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable().meta({ description: 'Send it as `cursor` for the next page.' }),
  })
  .meta({ id: 'RunList' });

export const runEvents = z
  .union([
    runState.meta({ description: 'run_started' }),
    runState.extend({ blocks: receipt.blocks }).meta({
      description:
        'run_completed, run_failed (GET …/jobs has the result), or run_tool_calls_required, run_in_progress where the run waits for its caller',
    }),
    blockRun.meta({ description: 'block_completed, block_failed, block_paused' }),
    streamInterrupted,
  ])
  .meta({ id: 'RunEvent', description: 'The `data` of an event, by its name; `id` grows within a run.' });

export const stepCursor = z
  .object({
    executionId: z.null().meta({ description: 'A new session.' }),
    version: z.int().meta({ description: 'The session goes to …/v{version}/step.' }),
    stepIndex: z.int(),
    accumulatedOutputs: outputsByStep.meta({ description: 'Outputs of the steps before.' }),
    message: z.string(),
    parameters: parsedObject,
    blockOverrides: z
      .record(z.string(), blockOverride)
      .optional()
      .meta({ description: 'When the run had some.' }),
    attachments: attachmentsField,
    ...toolFields,
  })
  .meta({ id: 'StepCursor' });
