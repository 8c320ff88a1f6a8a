import pg from 'pg';
import { ServiceError } from '../flow/errors.ts';

/** The error for a run that never existed, or was deleted for its age, perhaps a moment ago. */
export function runNotFound(executionId: string): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', `There is no run ${executionId}.`);
}

/** The error for an output of such a run. */
export function outputNotFound(executionId: string, blockKey: string): ServiceError {
  return new ServiceError(
    'RUN_NOT_FOUND',
    `The output of ${blockKey} in run ${executionId} is not stored (any more).`,
  );
}

/** The SQLSTATE of database functions that lock the run's row first and do not find it. */
const NO_DATA_FOUND = 'P0002';

/** Makes the handler for errors of writes about a run: throws RUN_NOT_FOUND when the run is gone, else the error itself. */
export function rethrowAsRunNotFound(executionId: string) {
  return (error: unknown): never => {
    const { code, constraint } = error instanceof pg.DatabaseError ? error : {};
    throw code === NO_DATA_FOUND || constraint === 'block_run_execution_id_fkey'
      ? runNotFound(executionId)
      : error;
  };
}
