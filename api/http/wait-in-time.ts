import { REQUEST_BYTES_WAIT_MS } from '../../platform/limits/gates.ts';
import { callerGone, tooManyLarge } from './request-errors.ts';

/**
 * Waits for a permit, as long as for the bytes of a request. Throws RATE_LIMITED when it does not come in time, and
 * REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function waitInTime<T>(
  acquire: (signal: AbortSignal) => Promise<T>,
  gone?: AbortSignal,
): Promise<T> {
  const late = AbortSignal.timeout(REQUEST_BYTES_WAIT_MS);
  try {
    return await acquire(gone ? AbortSignal.any([late, gone]) : late);
  } catch (error) {
    if (gone?.aborted) throw callerGone();
    if (!late.aborted) throw error;
    throw tooManyLarge();
  }
}
