import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { releaseLeftReservations } from '../db/credits/reservations.ts';
import { deleteExpiredKeys } from '../db/runs/idempotency-keys.ts';
import { cancelLeft } from '../db/upkeep/cancel-deleted.ts';
import { deleteOldInParts } from './delete-old-in-parts.ts';
import { giveFreeTurns } from './give-turns.ts';
import { holdLost } from './hold-lost.ts';
import { type Duty, keepDuty } from './keep-duty.ts';
import { reconcile } from './reconcile.ts';
import { reconcileDeliveries } from './reconcile-deliveries.ts';
import { reconcileTests } from './reconcile-tests.ts';
import { resumeParked } from './resume-parked.ts';

/** A run younger than this is left alone. */
const QUIET_SECONDS = 30;
const EXPIRED_KEYS_MAX = 2_000;
const EVERY_MS = 15_000;
const EVERY_MINUTE_MS = 60_000;

type Deps = { db: Db; client: Client; taskQueue: string; retentionDays: number | undefined };

/**
 * Sees to what a request or a workflow that died has left, and deletes what is old, until `signal` aborts. Each duty goes
 * at its own pace: one that is long, or fails, holds up no other.
 */
export async function keepReconciling(deps: Deps, signal: AbortSignal): Promise<void> {
  await Promise.all(duties(deps).map((duty) => keepDuty(deps.db, duty, signal)));
}

function duties(deps: Deps): Duty[] {
  const { db, retentionDays } = deps;
  const always: Duty[] = [
    {
      name: 'Reconciling runs',
      everyMs: EVERY_MS,
      look: all((signal) => reconcile(deps, QUIET_SECONDS, signal)),
    },
    {
      name: 'Holding runs that lose their workers',
      everyMs: EVERY_MINUTE_MS,
      look: all((signal) => holdLost(deps, signal)),
    },
    { name: 'Resuming parked runs', everyMs: EVERY_MS, look: all((signal) => resumeParked(deps, signal)) },
    {
      name: 'Cancelling what deleted projects left',
      everyMs: EVERY_MS,
      look: all((signal) => cancelLeft(db, { signal })),
    },
    {
      name: 'Reconciling test runs',
      everyMs: EVERY_MS,
      look: all((signal) => reconcileTests(deps, QUIET_SECONDS, signal)),
    },
    {
      name: 'Reconciling deliveries',
      everyMs: EVERY_MS,
      look: (signal) => reconcileDeliveries(deps, signal),
    },
    {
      name: 'Giving turns to deliveries',
      everyMs: EVERY_MS,
      look: all((signal) => giveFreeTurns(deps, signal)),
    },
    { name: 'Releasing reservations', everyMs: EVERY_MS, look: all(() => releaseLeftReservations(db)) },
    {
      name: 'Deleting expired idempotency keys',
      everyMs: EVERY_MS,
      look: async () => (await deleteExpiredKeys(db, EXPIRED_KEYS_MAX)) === EXPIRED_KEYS_MAX,
    },
  ];
  if (retentionDays === undefined) return always;
  return [
    ...always,
    { name: 'Deleting what is old', everyMs: EVERY_MS, look: deleteOldInParts(db, retentionDays) },
  ];
}

/** A look at everything leaves nothing to be done at once. */
function all(look: (signal: AbortSignal) => Promise<void>): Duty['look'] {
  return async (signal) => {
    await look(signal);
    return false;
  };
}
