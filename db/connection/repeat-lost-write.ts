import { setTimeout } from 'node:timers/promises';
import { ConnectionFailed } from './connection-failed.ts';
import { isTransactionConflict } from './is-transaction-conflict.ts';

const DELAYS_MS = [50, 200, 500];

/**
 * Repeats an idempotent write whose connection was lost or that PostgreSQL rolled back. A lost write may have been
 * executed, so repeating it must change nothing. Does not wait for an outage; the pool has done that. Only for writes
 * that nothing else repeats.
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
