// Permits of activities, and what becomes of an attempt that gets none.
import { ApplicationFailure } from '@temporalio/activity';
import {
  type FairQueue,
  type Permit,
  PermitRejected,
  type Priority,
} from '../../platform/limits/fair-queue.ts';
import { rescheduledAttempts } from '../../platform/observability/metrics/gate-metrics.ts';

/** The failure type of an attempt that got no permit, as operators read it in the Temporal Web UI. */
const WAITS_FOR_PERMIT = 'WAITS_FOR_PERMIT';
/** A rescheduled local attempt waits so long on a timer: at least `localRetryThreshold` (workflows/activities.ts). */
const RESCHEDULE_MIN_MS = 1_200;
const RESCHEDULE_BACKOFF = 1.5;
/** With it, a run may be rescheduled for days until its history is full. */
const RESCHEDULE_MAX_MS = 30_000;

/** `waitMaxMs`: how long an attempt may wait for a permit. */
type Waiting = { signal: AbortSignal; waitMaxMs: number };

/**
 * Acquires a permit for an attempt, which waits no longer than it may. Throws PermitRejected, with which the attempt is
 * rescheduled.
 */
export function acquire(
  gate: FairQueue,
  organization: string,
  { signal, waitMaxMs }: Waiting,
  priority: Priority = 'high',
): Promise<Permit> {
  return gate.acquire(organization, { signal, waitMaxMs, priority });
}

/**
 * Makes the failure of an attempt that got no permit. The engine makes the attempt again: a local one later with each time, where
 * `earlier` is how often that has happened, and a regular one when the gate suggests. Such attempts do not count.
 */
export function reschedule(
  { message, retryAfterMs }: PermitRejected,
  { isLocal, earlier }: { isLocal: boolean; earlier: number },
): ApplicationFailure {
  rescheduledAttempts.add(1);
  const ofLocal = Math.max(RESCHEDULE_MIN_MS * RESCHEDULE_BACKOFF ** earlier, retryAfterMs);
  return ApplicationFailure.create({
    type: WAITS_FOR_PERMIT,
    message,
    nextRetryDelay: isLocal ? Math.min(ofLocal, RESCHEDULE_MAX_MS) : retryAfterMs,
  });
}

/** Whether an attempt ended because it got no permit. */
export function isRescheduled(error: unknown): boolean {
  return (
    error instanceof PermitRejected ||
    (error instanceof ApplicationFailure && error.type === WAITS_FOR_PERMIT)
  );
}
