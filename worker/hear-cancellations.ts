import { once } from 'node:events';
import { listen } from '../db/listen.ts';
import { CANCELLED_CHANNEL, listMarkedUnderWay } from '../db/runs/cancel-run.ts';
import { cancelRunWorkflow, cancelUnderWay } from '../engine/cancel-workflow.ts';
import type { EngineDeps } from '../engine/deps.ts';

/** How many runs are cancelled when listening begins; the reconciler cancels the others. */
const MISSED_MAX = 100;

/**
 * Cancels the workflows of runs that the `weir` command marks as cancelled, as soon as it does, until `signal` aborts. Runs
 * that were marked while nobody listened are cancelled when listening begins.
 */
export async function hearCancellations(
  deps: EngineDeps,
  databaseUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const complain = (error: unknown) =>
    console.error(`Cancelled runs are left to the reconciler to end: ${error}`);
  async function cancelMissed(): Promise<void> {
    for (const call of await listMarkedUnderWay(deps.db, MISSED_MAX))
      if (signal.aborted || !(await cancelRunWorkflow(deps, call))) return;
  }
  const { close } = listen(
    databaseUrl,
    CANCELLED_CHANNEL,
    (executionId) => void cancelUnderWay(deps, executionId).catch(complain),
    () => void cancelMissed().catch(complain),
  );
  if (!signal.aborted) await once(signal, 'abort');
  await close().catch(complain);
}
