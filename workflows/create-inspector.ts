import type { Surroundings } from '../flow/interpreter.ts';
import { blockActivities } from './activities.ts';
import { uncancelled } from './uncancelled.ts';

/** Creates the functions with which loops inspect large values. */
export function createInspector(callId: string): Pick<Surroundings, 'inspect' | 'holds'> {
  return {
    inspect: (value) => uncancelled(() => blockActivities.inspectValue(callId, value)),
    holds: (condition, value) => uncancelled(() => blockActivities.checkCondition(callId, condition, value)),
  };
}
