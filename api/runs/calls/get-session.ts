import { findRun, type RunRow } from '../../../db/runs/runs.ts';
import { DRAFT_VERSION } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { UUID_PATTERN } from '../../../flow/limits.ts';
import { linkToTrace } from '../../../platform/observability/tracing.ts';
import type { ApiDeps } from '../../deps.ts';
import type { LoadedFlow } from '../../http/context.ts';

/** Gets a session of a flow, or of its draft. Throws RUN_NOT_FOUND, or CONFLICT when the session was cancelled. */
export async function getSession(
  { db }: ApiDeps,
  flow: Pick<LoadedFlow, 'flowId' | 'version'>,
  executionId: string,
): Promise<RunRow> {
  const run = UUID_PATTERN.test(executionId) ? await findRun(db, flow.flowId, executionId) : undefined;
  if (run?.mode !== 'step' || !isOfSameKind(run, flow)) throw sessionNotFound();
  if (run.cancel_requested_at) throw sessionCancelled();
  linkToTrace(run.trace_context);
  return run;
}

/** Whether a call of `flow` may continue `run`: draft runs continue as drafts, other runs with versions. */
export function isOfSameKind(run: { version: number }, flow: { version: number }): boolean {
  return (run.version === DRAFT_VERSION) === (flow.version === DRAFT_VERSION);
}

export function sessionNotFound(): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', 'This flow has no session with that executionId.');
}

export function sessionCancelled(): ServiceError {
  return new ServiceError('CONFLICT', 'The session was cancelled: start a new one, or fork it.');
}
