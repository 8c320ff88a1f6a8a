import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { PARKED, RESUME } from '../flow/run.ts';
import { parkRun, unparkRun } from './activities.ts';

const RESUME_SIGNAL = defineSignal(RESUME);

/** Whether a block waits for an operator: workers were lost under it again and again. */
export function isParked(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === PARKED;
}

/** Answers how blocks of one run wait until an operator has the run go on, which is one signal for all of them. */
export function createParking(executionId: string): () => Promise<void> {
  let resumed = 0;
  let waiting = 0;
  setHandler(RESUME_SIGNAL, () => {
    resumed += 1;
  });
  return async function park() {
    const before = resumed;
    waiting += 1;
    show('parked');
    try {
      await parkRun(executionId);
      await condition(() => resumed > before);
    } finally {
      waiting -= 1;
    }
    if (waiting > 0) return;
    show(null);
    await unparkRun(executionId);
  };
}

/** For operators, in the Temporal Web UI: such a run has an outcome of its own, for now. */
function show(value: 'parked' | null): void {
  upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value }]);
}
