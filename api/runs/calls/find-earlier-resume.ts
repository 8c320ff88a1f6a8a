// Repeated resumes (docs/tool-calls.md): a repeated resume gets the first one's result or, when that failed for a
// temporary reason, continues from the pause again.

import { createHash } from 'node:crypto';
import { findAnsweredPause, listStoredCalls } from '../../../db/runs/list-calls.ts';
import type { RunRow } from '../../../db/runs/runs.ts';
import { deriveId } from '../../../db/timed-id.ts';
import type { ErrorCode } from '../../../flow/errors.ts';
import { canonicalJson } from '../../../flow/json.ts';
import type { RunOutcome } from '../../../flow/run.ts';
import type { AcceptDeps } from '../../deps.ts';
import { replay } from './accept-idempotently.ts';
import type { AcceptedCall, CallToStore } from './store-call.ts';

/** How often a resume that fails again and again is tried; later it gets its last failure as its answer. */
export const TRIES_MAX = 32;

/**
 * Besides the failures of model calls, whose codes begin with `MODEL_`: after these, the same resume may succeed with another
 * answer of the model, later, or with another model key.
 */
const PASSING: ErrorCode[] = [
  'MESSAGES_TOO_LARGE',
  'BYOK_REJECTED',
  'INSUFFICIENT_CREDITS',
  'INTERNAL_ERROR',
];

/** A resume to accept: the id of its call, the paused run, and the call that it continues. */
export type NewResume = {
  accepted?: never;
  callId: string;
  run: RunRow;
  goesOn: Pick<NonNullable<CallToStore['continues']>, 'after' | 'again'>;
};

/**
 * Finds the call that an earlier, equal resume of `run` created, marked as replayed. When there is none, or it failed
 * for a temporary reason and was the last call of the run, returns the start of a new one. `callId`: the id of the
 * first try.
 */
export async function findEarlierResume(
  deps: AcceptDeps,
  run: RunRow,
  callId: string,
): Promise<{ accepted: AcceptedCall } | NewResume> {
  const { execution_id: executionId, concluded_by: last } = run;
  const ids: [string, ...string[]] = [callId];
  for (let tries = 1; tries < TRIES_MAX; tries++) ids.push(deriveCallId(executionId, [callId, tries]));
  const stored = await listStoredCalls(deps.db, ids);
  const latest = ids.findLastIndex((id) => stored.has(id));
  const accepted = latest < 0 ? undefined : await replay(deps, ids[latest] as string);
  if (!accepted) return { callId, run, goesOn: { after: last } };
  const next = ids[latest + 1];
  const isOver = accepted.callId !== last || run.cancel_requested_at !== null || !mayPass(accepted.outcome);
  const paused = isOver || !next ? undefined : await findAnsweredPause(deps.db, executionId, ids);
  if (!paused || !next) return { accepted };
  const waiting = { ...run, pause: paused.pause, concluded_by: paused.callId };
  return { callId: next, run: waiting, goesOn: { after: last, again: true } };
}

function mayPass(outcome: RunOutcome | undefined): boolean {
  if (outcome?.status !== 'failed') return false;
  const { code } = outcome.error;
  return code.startsWith('MODEL_') || PASSING.includes(code);
}

/**
 * Derives the id of a call (a version 8 UUID) from its run and its content: a repeated request has the same id. The
 * id begins with the time of the run's id, so that their rows are stored together.
 */
export function deriveCallId(executionId: string, asked: unknown): string {
  const hash = createHash('sha256')
    .update(`${executionId}\n${canonicalJson(asked)}`)
    .digest();
  return deriveId(executionId, hash);
}

/** Returns the id of the call that opens a session. */
export function firstCallOf(executionId: string): string {
  return deriveCallId(executionId, 'first call');
}
