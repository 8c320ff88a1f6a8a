import { setTimeout } from 'node:timers/promises';
import { ConnectionFailed } from './connection-failed.ts';
import { isTransactionConflict } from './is-transaction-conflict.ts';

const DELAYS_MS = [50, 200, 500];

/**
 * Does an idempotent write again when its connection was lost under it: it may have been carried out, and must come to
 * the same when it is repeated. It does not wait for a database that is away: that was done for the connection already.
 * Only for what nothing else repeats.
 */
export async function repeatLostWrite<T>(write: () => Promise<T>): Promise<T> {
  for (const delay of DELAYS_MS) {
    try {
      return await write();
    } catch (error) {
      const wasLost = error instanceof ConnectionFailed && error.failure === 'lost';
      if (!wasLost && !isTransactionConflict(error)) throw error;
      await setTimeout(delay);
    }
  }
  return write();
}
