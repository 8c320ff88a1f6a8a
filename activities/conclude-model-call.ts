// How an activity waits for a model call that its process holds, and what it makes of the call's end.
import { Context } from '@temporalio/activity';
import { isUnstorableValue } from '../db/connection/is-unstorable-value.ts';
import { ServiceError } from '../flow/errors.ts';
import type { HandedOver, Left } from '../flow/model-call.ts';
import { BUSY } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import type { Ending, HeldModelCall } from './held-model-calls.ts';
import { isDrained } from './is-drained.ts';
import { logFault } from './log-fault.ts';
import { ModelUnavailable } from './model-unavailable.ts';

/** Waits for the end of a held call, given `ms` for that long at most; `signal` aborts the call. */
export async function awaitEnd(
  call: HeldModelCall,
  signal: AbortSignal,
  ms?: number,
): Promise<Ending | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = ms === undefined ? undefined : setTimeout(() => late.resolve(undefined), ms);
  const abort = () => call.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([call.ended, late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
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
  return { ...BUSY, left: { ...(kept !== undefined && { kept }), ...leftBy(error, signal) } };
}

function leftBy(error: unknown, signal: AbortSignal): Left {
  if (error instanceof ModelUnavailable)
    return { refused: { message: error.message, retryAfterMs: error.retryAfterMs } };
  if (!signal.aborted) logFault(error, Context.current().info);
  return {};
}
