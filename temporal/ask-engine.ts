import type { Client } from '@temporalio/client';
import { describeNothing } from './describe-nothing.ts';
import { engineOutage } from './engine-outage.ts';

/** The engine answers in milliseconds when it works. The reconciler repeats requests that time out. */
const ENGINE_TIMEOUT_MS = 4_000;

/**
 * Asks the engine; rejects when no answer comes within `timeoutMs`. An answer ends a logged outage once workflows are
 * served again, too.
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
