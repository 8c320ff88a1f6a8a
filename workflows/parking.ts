import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { HOLD, PARKED, RESUME } from '../flow/run.ts';
import { parkRun, unparkRun } from './activities.ts';

const RESUME_SIGNAL = defineSignal(RESUME);
const HOLD_SIGNAL = defineSignal(HOLD);
/** The state that operators read on a parked block. */
const PARKED_STATE = 'parked, because its worker was lost again and again';

export type Parking = {
  /** Waits until an operator resumes the run: one signal for all its blocks. `say` shows the block's state. */
  park(say: (state: string) => void): Promise<void>;
  /** Does work that runs inside the workflow task; if the run is held, parks it first. */
  whenFree<T>(work: () => Promise<T>, say?: (state: string) => void): Promise<T>;
};

/** Whether a block has to wait for an operator because its workers were lost again and again. */
export function isParked(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === PARKED;
}

/** Creates the parking of one run: a place where its blocks wait for an operator. */
export function createParking(executionId: string): Parking {
  let held = false;
  let resumed = 0;
  let waiting = 0;
  setHandler(HOLD_SIGNAL, () => {
    held = true;
  });
  setHandler(RESUME_SIGNAL, () => {
    held = false;
    resumed += 1;
  });

  async function park(say: (state: string) => void): Promise<void> {
    const before = resumed;
    waiting += 1;
    say(PARKED_STATE);
    show('parked');
    try {
      await parkRun(executionId);
      await condition(() => resumed > before);
    } finally {
      waiting -= 1;
    }
    say('running');
    if (waiting > 0) return;
    show(null);
    await unparkRun(executionId);
  }

  /** Adds no promise when the run is not held: recorded histories fix the order in which blocks continue. */
  function whenFree<T>(work: () => Promise<T>, say: (state: string) => void = () => undefined): Promise<T> {
    return held ? park(say).then(() => whenFree(work, say)) : work();
  }

  return { park, whenFree };
}

/** Shows operators in the Temporal Web UI that the run is parked, or no longer is. */
function show(value: 'parked' | null): void {
  upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value }]);
}
