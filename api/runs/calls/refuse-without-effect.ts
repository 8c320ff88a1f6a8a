// Refuses fields that a request does not read, like unknown ones: the caller who sends them expects them to do something. Only
// the message of a call that continues a run is ignored, whatever it holds: callers send it again. So they may parameters and
// attachments, as long as they are those of the run (require-same-start.ts).
import { z } from 'zod';
import { ServiceError } from '../../../flow/errors.ts';
import { validationError } from '../../http/json-body.ts';
import { echoed, echoedOfSession } from '../run-shapes/requests.ts';

type Fields = { [field: string]: unknown };

const RESUME_FIELDS = ['executionId', 'pausedAtStep', 'toolCallMessages'];
const RESUME_DETAILS = ['iterationsUsed', 'accumulatedOutputs', 'resumeState'];
const OF_START = ['parameters', 'attachments'];
const ECHOED_FIELDS = Object.keys(echoed);
const ECHOED_OF_SESSION = Object.keys(echoedOfSession);

const WITHOUT_PAUSE = 'has an effect only with executionId, pausedAtStep and toolCallMessages';
const WITHOUT_RESULTS = 'has an effect only with toolCallMessages';
const OF_A_PAUSE = 'is a field of answers, and is accepted only where a pause is sent back whole';

/** Refuses what a request of /execute does not read: a resume, a fresh call. Throws INVALID_RESUME for what is neither. */
export function refuseIdleOfExecute(body: unknown): void {
  const absent = RESUME_FIELDS.filter((field) => !has(body, field));
  if (absent.length === RESUME_FIELDS.length) {
    refuse(body, RESUME_DETAILS, WITHOUT_PAUSE);
    refuse(body, ECHOED_FIELDS, OF_A_PAUSE);
    return;
  }
  if (absent.length > 0)
    throw new ServiceError(
      'INVALID_RESUME',
      `A resume needs ${RESUME_FIELDS.join(', ')}, as the pause answered them. Missing: ${absent.join(', ')}.`,
    );
  dropEmpty(body, OF_START);
  dropMessage(body);
}

/** Refuses what a call of /step does not read. The inputOverrides of step 0 are ignored, whatever they are. */
export function refuseIdleOfStep(body: unknown): void {
  const { executionId = null, stepIndex } = Object(body) as { executionId?: unknown; stepIndex?: unknown };
  if (stepIndex === 0) delete (body as Fields).inputOverrides;
  if (executionId !== null) {
    dropEmpty(body, OF_START);
    if (stepIndex !== 0 || has(body, 'toolCallMessages')) dropMessage(body);
  }
  if (has(body, 'toolCallMessages')) {
    // Resumes that differ in nothing else are the same one.
    for (const field of ECHOED_OF_SESSION) delete (body as Fields)[field];
    return;
  }
  refuse(body, ['iterationsUsed', 'resumeState'], WITHOUT_RESULTS);
  refuse(body, ECHOED_OF_SESSION, OF_A_PAUSE);
}

/** Refuses callbackEvents where no webhook is asked for. Leaves out fields of a resume that say nothing: a job has none. */
export function refuseIdleOfJob(body: unknown): void {
  for (const field of RESUME_FIELDS) if (Object(body)[field] === null) delete (body as Fields)[field];
  dropEmpty(body, RESUME_DETAILS);
  if (!has(body, 'callbackUrl')) refuse(body, ['callbackEvents'], 'has an effect only with callbackUrl');
}

/** Refuses the fields, but leaves out those that are empty: they would do nothing anyway. */
function refuse(body: unknown, fields: string[], message: string): void {
  dropEmpty(body, fields);
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

function dropEmpty(body: unknown, fields: string[]): void {
  for (const field of fields) if (isEmpty(field, Object(body)[field])) delete (body as Fields)[field];
}

function isEmpty(field: string, value: unknown): boolean {
  // The count of a run that has not paused yet.
  if (field === 'iterationsUsed') return value === null || value === 0;
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function has(body: unknown, field: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, field);
}
