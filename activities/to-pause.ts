import type { StoredRunInput } from '../db/tables/run-input.ts';
import type { Pause, ToolCallMessage } from '../flow/tool-calls.ts';
import { weigh } from '../platform/json-text/measure-json.ts';

/** Makes the reply of a block that paused from its recorded conversation, which ends with the model's tool calls. */
export function toPause(
  stepId: string,
  iterations: number,
  messages: ToolCallMessage[],
  continuation: StoredRunInput['continuation'],
): Pause {
  const last = messages.at(-1);
  return {
    ...(continuation && { carriedBytes: weigh(JSON.stringify(continuation.outputs)) }),
    paused: {
      step_id: stepId,
      iterations,
      tool_call_ids: (last?.role === 'assistant' ? (last.tool_calls ?? []) : []).map(({ id }) => id),
    },
  };
}
