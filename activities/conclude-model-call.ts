// How an activity waits for a model call that its process holds, and what it makes of the call's end.
import { Context } from '@temporalio/activity';
import { isUnstorableValue } from '../db/connection/database-errors.ts';
import { ServiceError } from '../flow/errors.ts';
import type { HandedOver, Left } from '../flow/model-call.ts';
import { BUSY } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { isDrained } from './attempts/is-drained.ts';
import { isTakenForLost } from './attempts/is-taken-for-lost.ts';
import { logFault } from './attempts/log-fault.ts';
import { ModelUnavailable } from './attempts/model-unavailable.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { Ending, HeldModelCall, HeldModelCalls } from './held-model-calls.ts';

/**
 * Waits for the end of a held call, given `ms` for that long at most, and no longer once the engine has taken the activity for
 * lost. Any other reason of `signal` aborts the call.
 */
export async function awaitEnd(
  call: HeldModelCall,
  signal: AbortSignal,
  ms?: number,
): Promise<Ending | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = ms === undefined ? undefined : setTimeout(() => late.resolve(undefined), ms);
  const abort = () => (isTakenForLost(signal) ? late.resolve(undefined) : call.abort(signal.reason));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([call.ended, late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Takes a held call over for an attempt and waits for its end. When the engine has taken the activity for lost, throws the
 * signal's reason and leaves the call to the next attempt, unless `isCancelled`.
 */
export async function seeThrough(
  held: HeldModelCalls,
  key: string,
  call: HeldModelCall,
  { keep, signal }: Pick<Attempt, 'keep' | 'signal'>,
  isCancelled: () => Promise<boolean>,
): Promise<Ending> {
  call.takeOver(keep);
  const ending = await awaitEnd(call, signal);
  if (!ending) {
    held.giveBack(key, keep, isCancelled);
    throw signal.reason;
  }
  held.end(key);
  return ending;
}

/** Returns or throws how a call ended; what has to be repeated is handed over to a regular activity. */
export function concludeModelCall(
  call: HeldModelCall,
  ending: Ending,
  signal: AbortSignal,
): Value | Pause | HandedOver {
  if ('reply' in ending) return ending.reply;
  const { error } = ending;
  const isCancelled = signal.aborted && !isDrained(signal);
  if (isCancelled || error instanceof ServiceError || isUnstorableValue(error)) throw error;
  const kept = call.kept();
  const left: Left = {
    ...leftBy(error, signal),
    ...(kept !== undefined && { kept }),
    ...(call.followsLost() && { lost: true }),
  };
  return { ...BUSY, left };
}

function leftBy(error: unknown, signal: AbortSignal): Left {
  if (error instanceof ModelUnavailable) {
    const { message, retryAfterMs, isUnreadable } = error;
    return { refused: { message, retryAfterMs, isUnreadable } };
  }
  if (!signal.aborted) logFault(error, Context.current().info);
  return {};
}
