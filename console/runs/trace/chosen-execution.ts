import type { RunView } from '../run-view.ts';
import type { Execution } from './spans.ts';

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
