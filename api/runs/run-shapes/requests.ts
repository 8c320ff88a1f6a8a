// The shapes of requests that start runs: they validate requests and make the API reference (docs/run-and-wait.md).
import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../../flow/delivery.ts';
import { blockFields, parsedObject, processorConfig } from '../../flows/written-flow.ts';
import { WITH_OTHER_PROBLEMS } from '../../http/zod-input.ts';
import { creditAmount } from '../../organizations/credit-schemas.ts';
import { attachmentsField } from './attachments.ts';
import { toolFields } from './tool-fields.ts';
import { resumeFields } from './tool-requests.ts';

/** Limits the work of checking the list. */
const EVENTS_MAX = 10;

export const webhookEvent = z.enum(WEBHOOK_EVENTS, {
  error: `must be one of ${WEBHOOK_EVENTS.join(', ')}`,
});

/** callbackUrl and callbackEvents, which request a webhook at the end of a run (docs/webhooks.md). */
const callbackFields = {
  callbackUrl: z.string().optional().meta({
    description: 'An https URL at a public address. The webhook goes there when the run has ended.',
  }),
  callbackEvents: z
    .array(webhookEvent)
    .max(EVENTS_MAX)
    // Not `minItems` in the API document: without `callbackUrl` an empty list is valid.
    .refine((events) => events.length > 0, 'must name at least one event')
    .optional()
    .meta({
      description:
        'The events to send, at least one; both when absent. Without `callbackUrl` it is refused unless it is empty.',
    }),
};

export const maxCredits = creditAmount.optional().meta({
  description:
    'The most credits that this run may cost. A model call whose estimate exceeds it is not made, and the run fails (`credits_exhausted`).',
});

const blockOverride = z
  .strictObject({
    ...blockFields,
    processor_config: processorConfig.omit({ tools_enabled: true }).optional(),
  })
  .meta({
    id: 'BlockOverride',
    description: 'Replaces fields of one block for this run only. Its type and code cannot be replaced.',
  });

export const blockOverrides = z.record(z.string(), blockOverride);
export const outputsByStep = parsedObject;

export const runFields = {
  message: z.string().meta({ description: 'The primary input.' }),
  parameters: parsedObject
    .optional()
    .meta({ description: 'Extra inputs for blocks. The key `attachments` is reserved.' }),
  attachments: attachmentsField,
  block_overrides: blockOverrides.optional().meta({ description: 'Overrides by step_id.' }),
  maxCredits,
};
const ignored = z.unknown().optional().meta({ description: 'Ignored: only /jobs calls back.' });

const echo = z.unknown().optional().meta({ description: 'Ignored.' });
/** Fields of a pause that a resume ignores: callers send back the whole response, also that of GET …/jobs/…. */
export const echoed = {
  status: echo,
  outcome: echo,
  cancelledBy: echo,
  cancelledAt: echo,
  toolCalls: echo,
  flowId: echo,
  blockCount: echo,
  traceId: echo,
  cost: echo,
  blocks: echo,
  notes: echo,
  version: echo,
  mode: echo,
  environment: echo,
  keyId: echo,
  startedBy: echo,
  repeats: echo,
  repeatedBy: echo,
  bulk_id: echo,
  startedAt: echo,
  finishedAt: echo,
  durationMs: echo,
};
/** The same for a session, whose pause is also an event. `version` is a field of its requests. */
const { version: _, ...ofRun } = echoed;
export const echoedOfSession = { ...ofRun, runId: echo, stepId: echo, pausedAtStep: echo };

export const executeRequest = z
  .strictObject({
    ...runFields,
    message: runFields.message.optional().meta({ description: 'The primary input; ignored on resume.' }),
    ...toolFields,
    executionId: z.string().toLowerCase().optional().meta({ description: 'On resume: echo.' }),
    pausedAtStep: z.string().optional().meta({ description: 'On resume: echo.' }),
    ...resumeFields,
    accumulatedOutputs: outputsByStep.optional().meta({ description: 'On resume: echo.' }),
    callbackUrl: ignored,
    callbackEvents: ignored,
    ...echoed,
  })
  .refine(({ message, executionId }) => message !== undefined || executionId !== undefined, {
    ...WITH_OTHER_PROBLEMS,
    path: ['message'],
    message: 'is required',
  })
  .meta({
    id: 'ExecuteRequest',
    description:
      'A fresh call needs `message`. A resume needs `executionId`, `pausedAtStep` and `toolCallMessages`.',
  });
export type ExecuteRequest = z.infer<typeof executeRequest>;
export const jobRequest = z
  .strictObject({
    ...runFields,
    ...callbackFields,
    tools: z
      .array(z.unknown())
      .optional()
      .meta({ description: 'Refused with 405: tool calls need /execute or /step.' }),
    toolChoice: toolFields.toolChoice.meta({
      description: 'Without tools only `auto` and `none` are accepted, and neither changes anything.',
    }),
  })
  .meta({ id: 'JobRequest' });
export const pinnedOutputs = outputsByStep.optional().meta({
  description: 'Outputs by step_id, in place of running these blocks: they cost nothing.',
});
export const draftRunRequest = jobRequest
  .extend({ pinned_outputs: pinnedOutputs })
  .meta({ id: 'DraftRunRequest' });
export type JobRequest = z.infer<typeof jobRequest> & { pinned_outputs?: unknown };
export type RunRequest = ExecuteRequest | JobRequest;
