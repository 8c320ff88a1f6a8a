import { uuid4, workflowInfo } from '@temporalio/workflow';
import type { Surroundings } from '../flow/interpreter.ts';
import { isBusy } from '../flow/run.ts';
import { blockActivities, waitingBlockActivities } from './activities.ts';
import type { Parking } from './parking.ts';
import { tellWaiting } from './tell-waiting.ts';

/**
 * Creates the functions with which loops inspect large values: inside the workflow task when there is memory for the value
 * now, else on the task queue of blocks that wait for their turn.
 */
export function createInspector(
  callId: string,
  { whenFree }: Parking,
): Pick<Surroundings, 'inspect' | 'holds'> {
  const waiting = () => {
    tellWaiting(callId);
    return waitingBlockActivities(workflowInfo().taskQueue);
  };
  // An id chosen by the engine might equal a block's.
  const options = () => ({ activityId: uuid4() });
  return {
    async inspect(value) {
      const reply = await whenFree(() => blockActivities.inspectValue(callId, value));
      if (!isBusy(reply)) return reply;
      return waiting().inspectValue.executeWithOptions(options(), [callId, value]);
    },
    async holds(condition, value) {
      const reply = await whenFree(() => blockActivities.checkCondition(callId, condition, value));
      if (typeof reply === 'boolean') return reply;
      return waiting().checkCondition.executeWithOptions(options(), [callId, condition, value]);
    },
  };
}
