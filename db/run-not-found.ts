import { ServiceError } from '../flow/errors.ts';

/** There never was such a run, or it was deleted for its age, perhaps a moment ago. */
export function runNotFound(executionId: string): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', `There is no run ${executionId}.`);
}

/** The same of one of its outputs. */
export function outputNotFound(executionId: string, blockKey: string): ServiceError {
  return new ServiceError(
    'RUN_NOT_FOUND',
    `The output of ${blockKey} in run ${executionId} is not stored (any more).`,
  );
}
