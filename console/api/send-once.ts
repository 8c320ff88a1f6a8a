import { ApiError, isOutage, isRepeatable } from './api-error.ts';

const REPEATS = 2;
const PAUSE_MS = 1_000;
/** The Idempotency-Keys of requests that were sent and not answered, by the request's description. */
const unanswered = new Map<string, string>();

/**
 * Sends a request that starts a run, with an Idempotency-Key kept for `what` until a response comes. The request is
 * repeated when no response comes. Calling again afterwards reuses the key, so no second run starts.
 */
export async function sendOnce<Answer>(
  what: string,
  send: (idempotencyKey: string) => Promise<Answer>,
  pauseMs = PAUSE_MS,
): Promise<Answer> {
  const key = unanswered.get(what) ?? crypto.randomUUID();
  unanswered.set(what, key);
  for (let sent = 0; ; sent++)
    try {
      const answer = await send(key);
      unanswered.delete(what);
      return answer;
    } catch (error) {
      if (!isOutage(error)) unanswered.delete(what);
      else if (sent < REPEATS && isRepeatable(error)) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        continue;
      }
      throw error instanceof ApiError && error.status === 0 ? outcomeUnknown() : error;
    }
}

function outcomeUnknown(): ApiError {
  return new ApiError(0, {
    code: 'UNREACHABLE',
    message: 'No response came, so the run may have started. Try again: it will not start twice.',
  });
}
