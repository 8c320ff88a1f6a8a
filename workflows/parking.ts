import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { PARK_SIGNAL, PARKED, UNPARK_SIGNAL } from '../flow/run.ts';
import { parkRun, unparkRun } from './activities.ts';

const UNPARK = defineSignal(UNPARK_SIGNAL);
const PARK = defineSignal(PARK_SIGNAL);
/** The state that operators read on a parked block. */
const PARKED_STATE = 'parked, because its worker was lost again and again';

export type Parking = {
  /** Waits until an operator unparks the run: one signal for all its blocks. `say` shows the block's state. */
  park(say: (state: string) => void): Promise<void>;
  /** Does work that runs inside the workflow task; if the run is to be parked, parks it first. */
  whenFree<T>(work: () => Promise<T>, say?: (state: string) => void): Promise<T>;
};

/** Whether a block has to wait for an operator because its workers were lost again and again. */
export function isParked(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === PARKED;
}

/** Creates the parking of one call: a place where its blocks wait for an operator. */
export function createParking(callId: string): Parking {
  let mustPark = false;
  let unparked = 0;
  let waiting = 0;
  setHandler(PARK, () => {
    mustPark = true;
  });
  setHandler(UNPARK, () => {
    mustPark = false;
    unparked += 1;
  });

  async function park(say: (state: string) => void): Promise<void> {
    const before = unparked;
    waiting += 1;
    say(PARKED_STATE);
    show('parked');
    try {
      await parkRun(callId);
      await condition(() => unparked > before);
    } finally {
      waiting -= 1;
    }
    say('running');
    if (waiting > 0) return;
    show(null);
    await unparkRun(callId);
  }

  /** Adds no promise unless the run is to be parked: recorded histories fix the order in which blocks continue. */
  function whenFree<T>(work: () => Promise<T>, say: (state: string) => void = () => undefined): Promise<T> {
    return mustPark ? park(say).then(() => whenFree(work, say)) : work();
  }

  return { park, whenFree };
}

/** Shows operators in the Temporal Web UI that the run is parked, or no longer is. */
function show(value: 'parked' | null): void {
  upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value }]);
}
