import type { Client } from '@temporalio/client';

/** The engine answers in milliseconds, or is away. What a caller asked for meanwhile is done later by the reconciler. */
const ENGINE_TIMEOUT_MS = 4_000;

/** Asks the engine something; rejects when it does not answer within `timeoutMs`. */
export function askEngine<T>(
  client: Client,
  ask: () => Promise<T>,
  timeoutMs = ENGINE_TIMEOUT_MS,
): Promise<T> {
  return client.withDeadline(Date.now() + timeoutMs, ask);
}
