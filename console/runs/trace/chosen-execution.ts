import type { RunView } from '../run-view.ts';
import type { Execution } from './spans.ts';

/** Names a block execution in the address, with its call unless it is the last of its key. */
export function nameExecution(executions: readonly Execution[], execution: Execution): RunView {
  const { key } = execution;
  const isLast = executions.findLast((other) => other.key === key) === execution;
  return { block: key, ...(!isLast && 'callId' in execution && { call: execution.callId }) };
}

/** The block execution that the address names: with a call that one, else the last of its key; undefined when none. */
export function chosenExecution(
  executions: readonly Execution[],
  { block, call }: RunView,
): Execution | undefined {
  if (block === undefined) return undefined;
  const named = executions.filter(({ key }) => key === block);
  const exact = call && named.find((execution) => 'callId' in execution && execution.callId === call);
  return exact || named.at(-1);
}
