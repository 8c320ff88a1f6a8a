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
/** What operators read of a block that waits for them. */
const PARKED_STATE = 'parked, since its worker was lost again and again';

export type Parking = {
  /** Waits until an operator has the run go on, which is one signal for all its blocks. `say` tells how the block stands. */
  park(say: (state: string) => void): Promise<void>;
  /** Does what runs inside the workflow task: at once, unless the run is held; then it is parked first. */
  whenFree<T>(work: () => Promise<T>, say?: (state: string) => void): Promise<T>;
};

/** Whether a block waits for an operator: workers were lost under it again and again. */
export function isParked(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === PARKED;
}

/** How what one run does waits for an operator. */
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

  /** Without a promise of its own where nothing is held: histories tell in which order blocks go on. */
  function whenFree<T>(work: () => Promise<T>, say: (state: string) => void = () => undefined): Promise<T> {
    return held ? park(say).then(() => whenFree(work, say)) : work();
  }

  return { park, whenFree };
}

/** For operators, in the Temporal Web UI: such a run has an outcome of its own, for now. */
function show(value: 'parked' | null): void {
  upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value }]);
}
