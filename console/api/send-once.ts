import { isOutage } from './api-error.ts';

/** The Idempotency-Keys of requests that were sent and not answered, by what they ask for. */
const unanswered = new Map<string, string>();

/**
 * Sends a request with an Idempotency-Key that `what` keeps until it is answered: asked for again after a lost answer, it
 * is not done a second time.
 */
export async function sendOnce<Answer>(
  what: string,
  send: (idempotencyKey: string) => Promise<Answer>,
): Promise<Answer> {
  const key = unanswered.get(what) ?? crypto.randomUUID();
  unanswered.set(what, key);
  try {
    const answer = await send(key);
    unanswered.delete(what);
    return answer;
  } catch (error) {
    if (!isOutage(error)) unanswered.delete(what);
    throw error;
  }
}
