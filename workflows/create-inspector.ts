import { uuid4, workflowInfo } from '@temporalio/workflow';
import type { Surroundings } from '../flow/interpreter.ts';
import { isBusy } from '../flow/run.ts';
import { blockActivities, waitingBlockActivities } from './activities.ts';
import type { Parking } from './parking.ts';

/**
 * Answers what loops ask of large values: at once, inside the workflow task, where they may be in hand now; else on the
 * task queue of blocks that wait for their turn.
 */
export function createInspector(
  executionId: string,
  { whenFree }: Parking,
): Pick<Surroundings, 'inspect' | 'holds'> {
  const waiting = () => waitingBlockActivities(workflowInfo().taskQueue);
  // An id of the engine's own might be that of a block.
  const options = () => ({ activityId: uuid4() });
  return {
    async inspect(value) {
      const reply = await whenFree(() => blockActivities.inspectValue(executionId, value));
      if (!isBusy(reply)) return reply;
      return waiting().inspectValue.executeWithOptions(options(), [executionId, value]);
    },
    async holds(condition, value) {
      const reply = await whenFree(() => blockActivities.checkCondition(executionId, condition, value));
      if (typeof reply === 'boolean') return reply;
      return waiting().checkCondition.executeWithOptions(options(), [executionId, condition, value]);
    },
  };
}
