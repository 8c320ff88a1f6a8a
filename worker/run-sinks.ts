import type { InjectedSinks } from '@temporalio/worker';
import type { InProcessRuns } from '../activities/in-process-runs.ts';
import type { RunSinks } from '../workflows/tell-waiting.ts';

/** Creates the sinks through which runs report to their worker process. */
export function createRunSinks({ freePlace }: Pick<InProcessRuns, 'freePlace'>): InjectedSinks<RunSinks> {
  return { places: { free: { fn: (_workflow, callId) => freePlace(callId) } } };
}
