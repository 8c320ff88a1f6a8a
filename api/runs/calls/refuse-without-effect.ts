// Rejects fields that a request does not use, like unknown fields: the caller expects them to have an effect.
// Exception: a call that continues a run may repeat the message, which is ignored, and the run's parameters and
// attachments (`requireSameStart`).
import { z } from 'zod';
import { ServiceError } from '../../../flow/errors.ts';
import { PROBLEMS_MAX, validationError } from '../../http/json-body.ts';
import { echoed, echoedOfSession, executeRequest } from '../run-shapes/requests.ts';

type Fields = { [field: string]: unknown };

const RESUME_FIELDS = ['executionId', 'pausedAtStep', 'toolCallMessages'];
const RESUME_DETAILS = ['iterationsUsed', 'accumulatedOutputs', 'resumeState'];
const OF_START = ['parameters', 'attachments'];
const ECHOED_FIELDS = Object.keys(echoed);
const ECHOED_OF_SESSION = Object.keys(echoedOfSession);

const WITHOUT_PAUSE = 'has an effect only with executionId, pausedAtStep and toolCallMessages';
const WITHOUT_RESULTS = 'has an effect only with toolCallMessages';
const OF_A_PAUSE = 'is a field of answers, and is accepted only where a pause is sent back whole';

/** Rejects unused fields of /execute, in a resume and in a fresh call. Throws INVALID_RESUME for a mixture. */
export function refuseIdleOfExecute(body: unknown): void {
  const absent = RESUME_FIELDS.filter((field) => !has(body, field));
  if (absent.length === RESUME_FIELDS.length) {
    refuse(body, RESUME_DETAILS, WITHOUT_PAUSE);
    refuse(body, ECHOED_FIELDS, OF_A_PAUSE);
    return;
  }
  if (absent.length > 0) {
    const unknown = Object.keys(body as Fields).filter(
      (field) => !Object.hasOwn(executeRequest.shape, field),
    );
    const alsoUnknown = unknown.length > 0 ? ` Not known: ${unknown.slice(0, PROBLEMS_MAX).join(', ')}.` : '';
    throw new ServiceError(
      'INVALID_RESUME',
      `A resume needs ${RESUME_FIELDS.join(', ')}, as the pause answered them. Missing: ${absent.join(', ')}.${alsoUnknown}`,
    );
  }
  dropEmpty(body, OF_START);
  dropMessage(body);
}

/** Rejects unused fields of a /step call. The inputOverrides of step 0 are ignored. */
export function refuseIdleOfStep(body: unknown): void {
  const { executionId = null, stepIndex } = Object(body) as { executionId?: unknown; stepIndex?: unknown };
  if (stepIndex === 0) delete (body as Fields).inputOverrides;
  if (executionId !== null) {
    dropEmpty(body, OF_START);
    if (stepIndex !== 0 || has(body, 'toolCallMessages')) dropMessage(body);
  }
  if (has(body, 'toolCallMessages')) {
    // Resumes that differ only in these fields are equal.
    for (const field of ECHOED_OF_SESSION) delete (body as Fields)[field];
    return;
  }
  refuse(body, ['iterationsUsed', 'resumeState'], WITHOUT_RESULTS);
  refuse(body, ECHOED_OF_SESSION, OF_A_PAUSE);
}

/** Rejects callbackEvents without a webhook. Removes empty fields of a resume, which a job cannot be. */
export function refuseIdleOfJob(body: unknown): void {
  for (const field of RESUME_FIELDS) if (Object(body)[field] === null) delete (body as Fields)[field];
  dropEmpty(body, RESUME_DETAILS);
  if (!has(body, 'callbackUrl')) refuse(body, ['callbackEvents'], 'has an effect only with callbackUrl');
}

/** Rejects the fields, but removes empty ones, which have no effect. */
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
