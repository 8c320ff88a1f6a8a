import type { Client } from '@temporalio/client';
import { describeNothing } from './describe-nothing.ts';
import { engineOutage } from './engine-outage.ts';

/** The engine answers in milliseconds, or is away. What a caller asked for meanwhile is done later by the reconciler. */
const ENGINE_TIMEOUT_MS = 4_000;

/**
 * Asks the engine something; rejects when it does not answer within `timeoutMs`. An answer ends an outage in the log once
 * workflows are served, too.
 */
export async function askEngine<T>(
  client: Client,
  ask: () => Promise<T>,
  timeoutMs = ENGINE_TIMEOUT_MS,
): Promise<T> {
  const answer = await client.withDeadline(Date.now() + timeoutMs, ask);
  engineOutage.works(async () => {
    await describeNothing(client.workflowService, client.options.namespace);
    return true;
  });
  return answer;
}
