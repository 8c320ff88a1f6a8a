import pg from 'pg';
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

/** NO_DATA_FOUND, of a function that locks the run's row first. */
const NO_DATA_FOUND = 'P0002';

/** For the error of writing about a run: throws RUN_NOT_FOUND where the run is gone, which repeating does not bring back. */
export function rethrowAsRunNotFound(executionId: string) {
  return (error: unknown): never => {
    const { code, constraint } = error instanceof pg.DatabaseError ? error : {};
    throw code === NO_DATA_FOUND || constraint === 'block_run_execution_id_fkey'
      ? runNotFound(executionId)
      : error;
  };
}
