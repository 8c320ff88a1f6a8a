import pg from 'pg';
import { ServiceError } from '../../flow/errors.ts';

/** The error for a run that never existed or was deleted. */
export function runNotFound(executionId: string): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', `There is no run ${executionId}.`);
}

/** The error for a call whose run was deleted. */
export function callNotFound(callId: string): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', `There is no call ${callId}: its run may have been deleted.`);
}

/** The error for an output of such a call. */
export function outputNotFound(callId: string, blockKey: string): ServiceError {
  return new ServiceError(
    'RUN_NOT_FOUND',
    `The output of ${blockKey} in call ${callId} is not stored (any more).`,
  );
}

/** The SQLSTATE of database functions that do not find the run's row. */
const NO_DATA_FOUND = 'P0002';
/** The constraint that refuses a block of a run that is gone. */
const BLOCK_HAS_RUN = 'block_run_execution_id_fkey';

/**
 * Makes the handler for errors of writes about a call: throws RUN_NOT_FOUND when its run is gone, otherwise the error
 * itself.
 */
export function rethrowAsRunNotFound(callId: string) {
  return (error: unknown): never => {
    const isGone =
      error instanceof pg.DatabaseError &&
      (error.code === NO_DATA_FOUND || error.constraint === BLOCK_HAS_RUN);
    throw isGone ? callNotFound(callId) : error;
  };
}
