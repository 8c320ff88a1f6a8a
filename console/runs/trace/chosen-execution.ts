// The block executions of a run: ended or under way, and the selected one.
import type { RunView } from '../run-view.ts';
import type { Execution } from './spans.ts';

/** Returns the search parameters of a block execution, with its call unless it is the last one with its key. */
export function nameExecution(executions: readonly Execution[], execution: Execution): RunView {
  const { key } = execution;
  const isLast = executions.findLast((other) => other.key === key) === execution;
  return { block: key, ...(!isLast && 'callId' in execution && { call: execution.callId }) };
}

/** Finds the block execution of the address: by call if given, otherwise the last one with the key. */
export function chosenExecution(
  executions: readonly Execution[],
  { block, call }: RunView,
): Execution | undefined {
  if (block === undefined) return undefined;
  const named = executions.filter(({ key }) => key === block);
  const exact = call && named.find((execution) => 'callId' in execution && execution.callId === call);
  return exact || named.at(-1);
}
