import { findRun, type RunRow } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiDeps } from '../deps.ts';

/** Gets a session of a flow. Throws RUN_NOT_FOUND, or CONFLICT when the session was cancelled. */
export async function getSession({ db }: ApiDeps, flowId: string, executionId: string): Promise<RunRow> {
  const run = UUID_PATTERN.test(executionId) ? await findRun(db, flowId, executionId) : undefined;
  if (run?.mode !== 'step') throw sessionNotFound();
  if (run.cancel_requested_at) throw sessionCancelled();
  return run;
}

export function sessionNotFound(): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', 'This flow has no session with that executionId.');
}

export function sessionCancelled(): ServiceError {
  return new ServiceError('CONFLICT', 'The session was cancelled: start a new one, or fork it.');
}
