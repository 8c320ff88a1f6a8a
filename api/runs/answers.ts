// The shapes of answers about runs, as the API reference shows them. Those of requests: requests.ts.
import { z } from 'zod';
import { RUN_MODES, RUN_STATUSES } from '../../db/schema.ts';
import { parsedObject } from '../flows/written-flow.ts';
import { streamInterrupted } from '../http/stream-interruption.ts';
import { attachmentsField } from './attachments.ts';
import { blockRun, failureCode, iterations, receipt } from './receipt.ts';
import { blockOverrides, outputsByStep } from './requests.ts';
import { toolCallMessages, toolCalls, toolFields } from './tool-requests.ts';

const count = z.int().min(0);

export const executionId = z.uuid().meta({ description: 'The id of the run.' });
const flowId = z.uuid();
const blockCount = count.meta({ description: 'Number of blocks in the flow.' });
const failure = {
  code: failureCode.optional().meta({ description: 'On failed.' }),
  step_id: z.string().optional().meta({ description: 'On failed: the block or step, where there is one.' }),
  iterations,
  errorMessage: z
    .string()
    .optional()
    .meta({ description: 'On failed: what went wrong, and in which block.' }),
  failureReason: z.enum(['error', 'credits_exhausted', 'byok_rejected']).optional(),
};

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

export const executeResponse = z
  .object({
    executionId,
    status: z.enum(['completed', 'failed', 'tool_calls_required']),
    result: z
      .unknown()
      .optional()
      .meta({ description: 'The output of the last step, any JSON; null on failed.' }),
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
      .meta({ description: 'A run that is `tool_calls_required` or `in_progress` waits for its caller.' }),
    ...failure,
    flowId,
    blockCount,
    version: count.meta({ description: 'The version that runs; 0 is a draft under test.' }),
    mode: z
      .enum(RUN_MODES)
      .meta({ description: 'The endpoint that started the run; `test`: a test case started it.' }),
    environment: z
      .enum(['live', 'test'])
      .meta({ description: 'The environment of the API key that started the run.' }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable().meta({ description: 'null while the run goes on.' }),
    durationMs: count.nullable(),
    cost: z.number().meta({ description: 'Credits spent so far.' }),
  })
  .meta({ id: 'RunState' });

export const jobState = runState
  .extend({
    result: z
      .unknown()
      .optional()
      .meta({ description: 'On completed: the output of the last step, any JSON.' }),
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
        'run_completed and run_failed (GET …/jobs has the result); run_tool_calls_required and run_in_progress when the run waits for its caller',
    }),
    blockRun.meta({ description: 'block_completed, block_failed, block_paused' }),
    streamInterrupted,
  ])
  .meta({
    id: 'RunEvent',
    description: 'The `data` of an event, by the name of the event; `id` grows within a run.',
  });

export const stepCursor = z
  .object({
    executionId: z.null().meta({ description: 'null starts a new session.' }),
    version: z.int().meta({ description: 'Send the session to …/v{version}/step.' }),
    stepIndex: z.int(),
    accumulatedOutputs: outputsByStep.meta({ description: 'Outputs of the earlier steps.' }),
    message: z.string(),
    parameters: parsedObject,
    blockOverrides: blockOverrides.optional().meta({ description: 'Present when the run had some.' }),
    attachments: attachmentsField,
    ...toolFields,
  })
  .meta({ id: 'StepCursor' });
