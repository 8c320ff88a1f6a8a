// The shapes of /step: its request, and the data of each event (docs/step-by-step.md).
import { z } from 'zod';
import { streamInterrupted } from '../../http/event-stream.ts';
import { errorCode } from '../../http/headers.ts';
import { WITH_OTHER_PROBLEMS } from '../../http/zod-input.ts';
import { executionId, pausePoint } from './answers.ts';
import { iterations, receipt } from './block-answers.ts';
import { blockRetrying, blockUnderWay } from './block-under-way.ts';
import { blockOverrides, echoedOfSession, outputsByStep, pinnedOutputs, runFields } from './requests.ts';
import { toolFields } from './tool-fields.ts';
import { resumeFields } from './tool-requests.ts';

export const stepRequest = z
  .strictObject({
    executionId: z.string().toLowerCase().nullish().meta({
      description: 'null on the first call of a session; later the executionId that run_started brought.',
    }),
    // Any integer: an index without a step is INVALID_STEP_INDEX.
    stepIndex: z
      .number()
      .refine(Number.isInteger, 'must be a whole number')
      .meta({ type: 'integer', description: 'The 0-based index in the step plan of the step to run.' }),
    accumulatedOutputs: outputsByStep.optional().meta({
      description:
        'The outputs of the earlier steps, by step_id. Required when stepIndex > 0, except with tool results.',
    }),
    message: runFields.message.optional().meta({
      description:
        'Required when stepIndex is 0, except with tool results. On the first call of a session that begins later, it fills {{message}} (empty when absent). On later calls with stepIndex above 0 it is ignored.',
    }),
    parameters: runFields.parameters.meta({
      description: 'On the first call; later calls may send the same again.',
    }),
    attachments: runFields.attachments.meta({
      description: 'On the first call: images; later calls may send the same again.',
    }),
    maxCredits: runFields.maxCredits.meta({
      description: 'The most credits that the session may cost; on a later call, while that call runs.',
    }),
    inputOverrides: outputsByStep
      .optional()
      .meta({ description: 'Replace outputs of earlier steps; ignored when stepIndex is 0.' }),
    blockOverrides: blockOverrides
      .optional()
      .meta({ description: 'Overrides by step_id, for this call only.' }),
    runRemaining: z
      .boolean()
      .optional()
      .meta({ description: 'Run to the end without pausing after each step.' }),
    ...toolFields,
    ...resumeFields,
    version: z
      .unknown()
      .optional()
      .meta({ description: 'Part of a fork’s request. Ignored: the path names the version.' }),
    callbackUrl: z.unknown().optional().meta({ description: 'Ignored.' }),
    callbackEvents: z.unknown().optional().meta({ description: 'Ignored.' }),
    ...echoedOfSession,
  })
  .refine(
    ({ stepIndex, message, toolCallMessages }) =>
      stepIndex !== 0 || message !== undefined || toolCallMessages !== undefined,
    { ...WITH_OTHER_PROBLEMS, path: ['message'], message: 'is required where stepIndex is 0' },
  )
  .meta({ id: 'StepRequest' });
export const draftStepRequest = stepRequest.safeExtend({ pinnedOutputs }).meta({ id: 'DraftStepRequest' });
export type StepRequest = z.infer<typeof stepRequest> & { pinnedOutputs?: unknown };

/** The receipt, which `?receipt=false` leaves out. */
const ofReceipt = z.object(receipt).partial().shape;

const place = {
  executionId,
  stepId: z.string(),
  stepIndex: z.int().min(0),
};
/** The fields of a block inside a parallel or loop step. stepIndex is that of the outer step. */
const inner = {
  key: z.string().optional().meta({ description: 'Of a block inside a step: its key in `blocks`.' }),
  iterations,
  branches: z
    .array(z.string())
    .optional()
    .meta({ description: 'Inside parallel steps: the branch of each of them, outermost first.' }),
};
const event = (name: string, description: string, shape: z.ZodRawShape) =>
  z.object(shape).meta({ id: name, description });

export const stepEventSchema = z.union([
  event('StepRunStarted', 'run_started, on the first call of a session', {
    executionId,
    flowId: z.uuid(),
    version: z.int().meta({ description: 'Pin the session to it: …/v{version}/step.' }),
    blockCount: z.int(),
    steps: z.array(z.object({ index: z.int(), step_id: z.string(), name: z.string(), type: z.string() })),
  }),
  event('StepBlockStarted', 'block_started, of a step or of a block inside it', {
    ...place,
    ...inner,
    name: z.string(),
    type: z.string(),
    processor_type: blockUnderWay.shape.processor_type.optional(),
  }),
  event('StepBlockRetrying', 'block_retrying: a provider refused the block, which is asked again', {
    ...place,
    ...blockRetrying.omit({ step_id: true }).shape,
    ...inner,
    type: z.string(),
  }),
  event(
    'StepBlockCompleted',
    'block_completed, with cost and blocks of this step: merge output into accumulatedOutputs under stepId',
    {
      ...place,
      ...inner,
      output: z.unknown(),
      outputBytes: z.int().optional().meta({
        description:
          'Of a block inside a step whose output is too long to be sent: its size; output is null.',
      }),
      ...ofReceipt,
    },
  ),
  event('StepProgress', 'step_progress, with runRemaining, between steps', {
    ...place,
    nextStepIndex: z.int(),
    stepCount: z.int(),
  }),
  event('StepPaused', 'step_paused: the call has ended, more steps remain', {
    ...place,
    nextStepIndex: z.int(),
    stepCount: z.int(),
  }),
  event(
    'StepPausedForToolCalls',
    'step_paused_for_tool_calls, with cost and blocks of this call: send the same stepIndex, with results',
    {
      ...place,
      runId: executionId,
      status: z.literal('in_progress'),
      ...pausePoint.shape,
      ...ofReceipt,
    },
  ),
  event('StepRunCompleted', 'run_completed, with cost and blocks of this call', {
    executionId,
    status: z.literal('completed'),
    result: z.unknown(),
    flowId: z.uuid(),
    blockCount: z.int(),
    ...ofReceipt,
  }),
  event('StepRunFailed', 'run_failed, with cost and blocks of this call: you may send the step again', {
    executionId,
    status: z.literal('failed'),
    stepId: z.string().optional(),
    iterations,
    code: errorCode,
    errorMessage: z.string(),
    failureReason: z.string(),
    ...ofReceipt,
  }),
  streamInterrupted,
]);
