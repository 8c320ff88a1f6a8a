// Refuses fields that a request does not read, like unknown ones: the caller who sends them expects them to do something. Only
// the message of a call that continues a run is ignored, whatever it holds: callers send it again.
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { validationError } from '../http/json-body.ts';

type Fields = { [field: string]: unknown };

const RESUME_FIELDS = ['executionId', 'pausedAtStep', 'toolCallMessages'];
const RESUME_DETAILS = ['iterationsUsed', 'accumulatedOutputs', 'resumeState'];
/** The fields of a pause besides those that a resume takes: they come back when a pause is echoed as it is. */
const ECHOED_FIELDS = ['status', 'toolCalls', 'flowId', 'blockCount', 'cost', 'blocks'];

const ON_RESUME = 'has no effect on a resume, which has what its run was started with';
const WITHOUT_PAUSE = 'has an effect only with executionId, pausedAtStep and toolCallMessages';
const LATER = 'has an effect only on the first call of a session';
const WITHOUT_RESULTS = 'has an effect only with toolCallMessages';

/** Refuses what a request of /execute does not read: a resume, a fresh call. Throws INVALID_RESUME for what is neither. */
export function refuseIdleOfExecute(body: unknown): void {
  const absent = RESUME_FIELDS.filter((field) => !has(body, field));
  if (absent.length === RESUME_FIELDS.length) {
    refuse(body, [...RESUME_DETAILS, ...ECHOED_FIELDS], WITHOUT_PAUSE);
    return;
  }
  if (absent.length > 0)
    throw new ServiceError(
      'INVALID_RESUME',
      `A resume needs ${RESUME_FIELDS.join(', ')}, as the pause answered them. Missing: ${absent.join(', ')}.`,
    );
  refuse(body, ['parameters', 'attachments'], ON_RESUME);
  dropMessage(body);
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

/** Refuses callbackEvents where no webhook is asked for. Leaves out fields of a resume that are null: a job has none. */
export function refuseIdleOfJob(body: unknown): void {
  for (const field of [...RESUME_FIELDS, ...RESUME_DETAILS])
    if (has(body, field) && (body as Fields)[field] === null) delete (body as Fields)[field];
  if (!has(body, 'callbackUrl')) refuse(body, ['callbackEvents'], 'has an effect only with callbackUrl');
}

/** Refuses the fields, but leaves out those that are empty: they would do nothing anyway. */
function refuse(body: unknown, fields: string[], message: string): void {
  for (const field of fields) if (isEmpty(Object(body)[field])) delete (body as Fields)[field];
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
  delete (body as Fields).message;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function has(body: unknown, field: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, field);
}
