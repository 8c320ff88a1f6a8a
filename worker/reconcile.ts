// Nothing accepted is ever lost: finds runs whose row says `started` and whose workflow is missing or has ended.
import { setTimeout } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { startRun } from '../api/start-run.ts';
import { claimUnfinished } from '../db/claim-unfinished.ts';
import type { Db } from '../db/connect.ts';
import { deleteOld } from '../db/delete-old.ts';
import { deleteExpiredKeys } from '../db/idempotency-keys.ts';
import { releaseLeftReservations } from '../db/reservations.ts';
import { findRunStarts } from '../db/run-starts.ts';
import { finishRun } from '../db/runs.ts';
import { CANCELLED, workflowIdOf } from '../flow/run.ts';
import { reconcileDeliveries } from './reconcile-deliveries.ts';
import { reconcileTests } from './reconcile-tests.ts';
import { workflowState } from './workflow-state.ts';

const INTERVAL_MS = 15_000;
/** A run younger than this, or looked at within it, is left alone. */
const QUIET_SECONDS = 30;
const CLAIMED_MAX = 100;
/** Most idempotency keys that one look deletes: 660 per second. */
const EXPIRED_KEYS_MAX = 10_000;
/** Most runs that one look deletes for their age: 33 per second. */
const OLD_RUNS_MAX = 500;

/**
 * Looks every 15 s, until `signal` aborts, at the runs that should have ended: starts the workflow of one that has
 * none, records the end of one whose workflow was terminated or timed out, cancels what its caller asked to cancel
 * while the engine was away; at webhook deliveries; deletes expired idempotency keys, reservations that were left, and
 * what is older than `retentionDays`. Several processes share the work.
 */
export async function keepReconciling(
  deps: { db: Db; client: Client; taskQueue: string; retentionDays: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await reconcile(deps, QUIET_SECONDS).catch((error) => console.error('Reconciling runs failed:', error));
    await reconcileTests(deps, QUIET_SECONDS).catch((error) =>
      console.error('Reconciling test runs failed:', error),
    );
    await reconcileDeliveries(deps).catch((error) => console.error('Reconciling deliveries failed:', error));
    await deleteExpiredKeys(deps.db, EXPIRED_KEYS_MAX).catch((error) =>
      console.error('Deleting expired idempotency keys failed:', error),
    );
    await releaseLeftReservations(deps.db).catch((error) =>
      console.error('Releasing reservations failed:', error),
    );
    if (deps.retentionDays !== undefined)
      await deleteOld(deps.db, deps.retentionDays, OLD_RUNS_MAX).catch((error) =>
        console.error('Deleting what is old failed:', error),
      );
    await setTimeout(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** One look at all unfinished runs that are older than `quietSeconds`. */
export async function reconcile(
  deps: { db: Db; client: Client; taskQueue: string },
  quietSeconds: number,
): Promise<void> {
  for (;;) {
    const claimed = await claimUnfinished(deps.db, 'run', { quietSeconds, limit: CLAIMED_MAX });
    for (const run of await findRunStarts(deps.db, claimed))
      await reconcileRun(deps, run).catch((error) =>
        console.error(`Reconciling run ${run.executionId} failed:`, error),
      );
    if (claimed.length < CLAIMED_MAX) return;
  }
}

type UnfinishedRun = Awaited<ReturnType<typeof findRunStarts>>[number];

async function reconcileRun(
  deps: { db: Db; client: Client; taskQueue: string },
  run: UnfinishedRun,
): Promise<void> {
  const workflowId = workflowIdOf(run);
  const cancelled = run.cancelRequestedAt !== null;
  const state = await workflowState(deps.client, workflowId);
  if (state === 'missing') {
    if (cancelled) await finishRun(deps.db, run.executionId, { status: 'failed', error: CANCELLED });
    else await startRun(deps.client, deps.taskQueue, run);
    return;
  }
  if (state === 'open') {
    if (cancelled) await deps.client.workflow.getHandle(workflowId).cancel().catch(ignoreMissing);
    return;
  }
  await finishRun(deps.db, run.executionId, {
    status: 'failed',
    error: {
      code: state === 'cancelled' || state === 'terminated' ? 'CANCELLED' : 'INTERNAL_ERROR',
      message: `The run's workflow ended as ${state} before its result was recorded.`,
      reason: 'error',
    },
  });
}

/** One that has ended meanwhile is recorded at the next look. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
