import { ApplicationFailure, Context } from '@temporalio/activity';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { createPace } from '../../platform/limits/pace.ts';
import { createTurns, type Turns } from '../../platform/limits/turns.ts';
import { slotRefusals } from '../../platform/observability/metrics/sharing-metrics.ts';

/** The failure type of an attempt that found no slot, or waited in vain, as operators read it in the Temporal Web UI. */
const WAITS = 'WAITS_FOR_SLOT';
/** Attempts a second that a worker has made of what waits, however rarely a slot is freed: also of what a caller waits for. */
const ATTEMPTS_MIN = 1;
const AWAITED_ATTEMPTS_MIN = 10;

/** The slots that a worker has for activities. Keys are fairness keys: an organization's slug, written otherwise for its jobs. */
export type Slots = Pick<Turns, 'countUnderWay'> & {
  /**
   * Takes a slot; undefined when the key has its share. An attempt that is turned away gives it back as it found it: that says
   * nothing of how soon slots are freed.
   */
  takeNow(key: string): ((wasTurnedAway?: boolean) => void) | undefined;
  /** Returns the milliseconds after which an activity that found no slot is to be asked for again. */
  nextInMs(key: string): number;
};

/** Creates slots for activities, as `createTurns` does; `now` is in milliseconds. */
export function createSlots(places: Parameters<typeof createTurns>[0], now?: () => number): Slots {
  const turns = createTurns({ ...places, ...(now && { now }) });
  const pace = createPace(now);
  return {
    countUnderWay: turns.countUnderWay,
    takeNow(key) {
      const endTurn = turns.takeNow(key);
      return (
        endTurn &&
        ((wasTurnedAway = false) => {
          endTurn();
          if (!wasTurnedAway) pace.noteEnd();
        })
      );
    },
    // Runs that a caller waits for have a key, and so slots, of their own (temporal/start-run.ts): the slug as it is.
    nextInMs: (key) => pace.nextInMs(key, SLUG_PATTERN.test(key) ? AWAITED_ATTEMPTS_MIN : ATTEMPTS_MIN),
  };
}

/**
 * Does the work of a regular activity in one of the slots that its worker has for activities, most of which only wait for their
 * turn at something. When the organization has its share of these, the engine is to ask again later: what waited here would
 * keep other organizations' activities from being taken. A local activity waits for nothing and needs no slot.
 */
export async function inSlot<T>(
  slots: Slots,
  { isLocal }: { isLocal: boolean },
  work: () => Promise<T>,
): Promise<T> {
  if (isLocal) return work();
  const endSlot = slots.takeNow(fairnessKey());
  if (!endSlot)
    throw turnAwayFrom(slots, 'The organization has as many of these waiting in this worker as it may have.');
  let wasTurnedAway = false;
  try {
    return await work();
  } catch (error) {
    wasTurnedAway = isTurnedAway(error);
    throw error;
  } finally {
    endSlot(wasTurnedAway);
  }
}

/** Creates the failure of an attempt that found no free slot. The engine retries the attempt later. */
export function turnAwayFrom(slots: Slots, message: string): ApplicationFailure {
  slotRefusals.add(1);
  return turnAway(message, slots.nextInMs(fairnessKey()));
}

function fairnessKey(): string {
  return Context.current().info.priority?.fairnessKey ?? '';
}

/** Makes the failure of an attempt that the engine is to ask for again, as often as it has to. */
export function turnAway(message: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({ type: WAITS, message, nextRetryDelay });
}

/** Whether an attempt ended because it found no slot or place. */
export function isTurnedAway(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === WAITS;
}
