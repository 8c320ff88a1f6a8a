// Refuses fields that a request does not read, like unknown ones: the caller who sends them expects them to do something. Only
// the message of a call that continues a run is ignored, whatever it holds: callers send it again.
import { z } from 'zod';
import { validationError } from '../http/json-body.ts';

const RESUME_FIELDS = ['executionId', 'pausedAtStep', 'toolCallMessages'];
/** The fields of a pause besides those that a resume takes: they come back when a pause is echoed as it is. */
const ECHOED_FIELDS = ['status', 'toolCalls', 'flowId', 'blockCount', 'cost', 'blocks'];

const ON_RESUME = 'has no effect on a resume, which has what its run was started with';
const WITHOUT_PAUSE = 'has an effect only with executionId, pausedAtStep and toolCallMessages';
const LATER = 'has an effect only on the first call of a session';
const WITHOUT_RESULTS = 'has an effect only with toolCallMessages';

/** Refuses what a request of /execute does not read: a resume, a fresh call. */
export function refuseIdleOfExecute(body: unknown): void {
  const sent = RESUME_FIELDS.filter((field) => has(body, field)).length;
  if (sent === RESUME_FIELDS.length) {
    refuse(body, ['parameters', 'attachments'], ON_RESUME);
    dropMessage(body);
  }
  if (sent === 0)
    refuse(body, ['iterationsUsed', 'accumulatedOutputs', 'resumeState', ...ECHOED_FIELDS], WITHOUT_PAUSE);
}

/** Refuses what a call of /step does not read. */
export function refuseIdleOfStep(body: unknown): void {
  const { executionId = null, stepIndex } = Object(body) as { executionId?: unknown; stepIndex?: unknown };
  if (executionId !== null) {
    refuse(body, ['parameters', 'attachments'], LATER);
    if (stepIndex !== 0 || has(body, 'toolCallMessages')) dropMessage(body);
  }
  if (!has(body, 'toolCallMessages')) refuse(body, ['iterationsUsed', 'resumeState'], WITHOUT_RESULTS);
}

/** Refuses callbackEvents where no webhook is asked for. */
export function refuseIdleOfJob(body: unknown): void {
  if (!has(body, 'callbackUrl')) refuse(body, ['callbackEvents'], 'has an effect only with callbackUrl');
}

function refuse(body: unknown, fields: string[], message: string): void {
  const idle = fields.filter((field) => has(body, field));
  if (idle.length > 0)
    throw validationError(
      new z.ZodError(
        idle.map((field) => ({
          code: 'custom',
          path: [field],
          message: `${message}: leave it out`,
          input: 0,
        })),
      ),
    );
}

function dropMessage(body: unknown): void {
  delete (body as { message?: unknown }).message;
}

function has(body: unknown, field: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, field);
}
