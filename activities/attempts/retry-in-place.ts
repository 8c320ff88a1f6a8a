import { setTimeout } from 'node:timers/promises';
import { ConnectionFailed, isUnstorableValue } from '../../db/connection/database-errors.ts';
import { BlockRecorded, CreditsReserved } from '../../db/credits/reservations.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Attempt } from './run-attempt.ts';

const DELAYS_MS = [100, 300, 1_000, 3_000, 10_000];
const PATIENT_DELAY_MS = 5_000;

/**
 * Retries a failed part of an attempt in place, such as a write: failing the whole attempt would do, and pay for, its work a
 * second time. It retries for 15 s; a regular activity, while the database is away, until the part succeeds or its attempt has
 * to stop. `part` gets the number of earlier tries.
 */
export async function retryInPlace<T>(
  part: (failed: number) => Promise<T>,
  { isLocal, signal }: Pick<Attempt, 'isLocal' | 'signal'>,
): Promise<T> {
  for (let failed = 0; ; failed += 1) {
    try {
      return await part(failed);
    } catch (error) {
      const away = !isLocal && error instanceof ConnectionFailed;
      const delay = DELAYS_MS[failed] ?? (away ? PATIENT_DELAY_MS : undefined);
      const isFinal =
        [ServiceError, BlockRecorded, CreditsReserved].some((type) => error instanceof type) ||
        isUnstorableValue(error);
      if (isFinal || delay === undefined || signal.aborted) throw error;
      // An aborted wait throws the signal's reason.
      await setTimeout(delay, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
