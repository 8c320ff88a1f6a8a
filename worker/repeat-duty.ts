import { setTimeout } from 'node:timers/promises';
import { ServiceError as EngineError } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { ConnectionFailed } from '../db/connection/connection-failed.ts';
import { deferDuty, takeDuty } from '../db/upkeep/duties.ts';
import { describeEngineError } from '../engine/describe-engine-error.ts';
import { dutyInterval } from './duty-interval.ts';

/** Something that the service's workers do now and then, one of them at a time. */
export type Duty = {
  /** Unique; begins a line of the log. */
  name: string;
  everyMs: number;
  /**
   * Does some of it; answers whether more is to be done at once. Starts nothing more once `signal` has aborted, and ends
   * within seconds.
   */
  look(signal: AbortSignal): Promise<boolean>;
};

/** A process that dies with a duty holds it no longer than this; while one lives, it goes on holding it. */
const HELD_SECONDS = 30;
const HOLD_AGAIN_MS = 10_000;

/**
 * Does a duty until `signal` aborts: every `everyMs`, less often when a look takes long, more often while there is more
 * to do. What keeps it from being done is logged once, and its end.
 */
export async function repeatDuty(db: Db, duty: Duty, signal: AbortSignal): Promise<void> {
  let failing: string | undefined;
  while (!signal.aborted) {
    let restMs = duty.everyMs;
    try {
      if (await takeDuty(db, duty.name, HELD_SECONDS)) {
        restMs = await lookOnce(db, duty, signal);
        if (failing !== undefined) console.error(`${duty.name} works again.`);
        failing = undefined;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (failing !== String(error))
        console.error(`${duty.name} failed, and is tried again:`, inShort(error));
      failing = String(error);
    }
    await setTimeout(restMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Says in one line that a part is away, since many duties meet that at once; of anything else, all there is to know. */
function inShort(error: unknown): unknown {
  if (error instanceof ConnectionFailed) return error.message;
  return error instanceof EngineError ? describeEngineError(error) : error;
}

/** Answers how long to rest. */
async function lookOnce(db: Db, { name, everyMs, look }: Duty, signal: AbortSignal): Promise<number> {
  const holding = setInterval(
    () => void deferDuty(db, name, HELD_SECONDS).catch(() => undefined),
    HOLD_AGAIN_MS,
  );
  const began = performance.now();
  let restMs = everyMs;
  try {
    const more = await look(signal);
    restMs = dutyInterval(performance.now() - began, more, everyMs);
    return restMs;
  } finally {
    clearInterval(holding);
    await deferDuty(db, name, signal.aborted ? 0 : restMs / 1_000);
  }
}
