import { ServiceError } from '../../flow/errors.ts';
import { ThreadStarved } from '../../platform/json-schema/thread-pool.ts';
import { log } from '../../platform/observability/log.ts';
import { retryInPlace } from '../attempts/retry-in-place.ts';

/**
 * Checks an answer that is in memory only. When the check fails for a reason of the service, it is repeated in place:
 * asking the model again would cost again.
 */
export async function checkInHand<T>(
  check: () => Promise<T>,
  model: string,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await retryInPlace(check, { isLocal: true, signal });
  } catch (error) {
    if (error instanceof ServiceError || signal.aborted) throw error;
    log.error({ model, err: error }, 'An answer could not be checked against its JSON Schema.');
    const why =
      error instanceof ThreadStarved ? 'the service was too busy' : 'for a reason inside the service';
    throw new ServiceError(
      'INTERNAL_ERROR',
      `The answer of ${model} could not be checked against the outputSchema: ${why}.`,
      { model },
    );
  }
}
