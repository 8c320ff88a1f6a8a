import { setTimeout } from 'node:timers/promises';
import { ServiceError as EngineError } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { logOutage } from '../../db/connection/database-errors.ts';
import { deferDuty, takeDuty } from '../../db/upkeep/duties.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import { dutyCompletions, dutyFailures } from '../../platform/observability/metrics/worker-metrics.ts';
import { logEngineOutage } from '../../temporal/ask-engine.ts';
import { describeEngineError } from '../../temporal/engine-errors.ts';
import { dutyInterval } from './duty-interval.ts';

/** A duty: a recurring task of the service's workers, which one worker at a time does. */
export type Duty = {
  /** Unique; the start of a line in the log. */
  name: string;
  everyMs: number;
  /** Whether this process may do it now; it may unless told. */
  mayPerform?: () => Promise<boolean>;
  /**
   * Does some of the work and returns whether there is more to do at once. Starts nothing more once `signal` has aborted,
   * and ends within seconds.
   */
  perform(signal: AbortSignal): Promise<boolean>;
};

/** A process that dies holds its duty no longer than this; a living process renews its hold. */
const HELD_SECONDS = 30;
const HOLD_AGAIN_MS = 10_000;
/** A rest is up to this part longer: otherwise all duties ask the database at one moment, on a connection each. */
const SPREAD = 0.25;
/** A duty that goes on failing in the same way is logged so often. */
const TELL_AGAIN_MS = 600_000;

/**
 * Does a duty until `signal` aborts: every `everyMs`, less often when it takes long, more often while there is more
 * to do. What keeps it from being done is logged when it begins, every ten minutes and when it ends; an outage of the
 * database or the engine once for all duties. `now` is in milliseconds.
 */
export async function repeatDuty(
  db: Db,
  duty: Duty,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<void> {
  let failing: { error: string; quietUntil: number } | undefined;
  for (const counter of [dutyFailures, dutyCompletions]) counter.add(0, { duty: duty.name });
  while (!signal.aborted) {
    let restMs = duty.everyMs;
    try {
      const mayPerform = (await duty.mayPerform?.()) ?? true;
      if (mayPerform && (await takeDuty(db, duty.name, HELD_SECONDS))) {
        restMs = await performOnce(db, duty, signal);
        dutyCompletions.add(1, { duty: duty.name });
        if (failing) log.info({ duty: duty.name }, 'A duty works again.');
        failing = undefined;
      }
    } catch (error) {
      if (signal.aborted) return;
      dutyFailures.add(1, { duty: duty.name });
      const what = String(error instanceof Error && error.cause ? error.cause : error);
      const isTold = logOutage(error) || logEngineOutage(error);
      if (!isTold && (failing?.error !== what || now() >= failing.quietUntil)) {
        log.warn({ duty: duty.name, ...inShort(error) }, 'A duty failed, and is tried again.');
        failing = { error: what, quietUntil: now() + TELL_AGAIN_MS };
      }
    }
    await setTimeout(restMs * (1 + Math.random() * SPREAD), undefined, { signal }).catch(() => undefined);
  }
}

/** Describes an outage in short, since many duties meet it at once, and any other error in full. */
function inShort(error: unknown): { reason: string } | { err: unknown } {
  if (error instanceof ObjectStoreUnavailable) return { reason: error.message };
  return error instanceof EngineError ? { reason: describeEngineError(error) } : { err: error };
}

/** Does the duty once and returns how long to rest. */
async function performOnce(db: Db, { name, everyMs, perform }: Duty, signal: AbortSignal): Promise<number> {
  const holding = setInterval(
    () => void deferDuty(db, name, HELD_SECONDS).catch(() => undefined),
    HOLD_AGAIN_MS,
  );
  const began = performance.now();
  let restMs = everyMs;
  try {
    const more = await perform(signal);
    restMs = dutyInterval(performance.now() - began, more, everyMs);
    return restMs;
  } finally {
    clearInterval(holding);
    await deferDuty(db, name, signal.aborted ? 0 : restMs / 1_000);
  }
}
