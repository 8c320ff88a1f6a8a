// Tool calls (docs/tool-calls.md): pausing, resuming, matching ids, the cap.
import type { Block, FlowDefinition, Step } from './definition.ts';
import { ServiceError } from './errors.ts';
import { MAX_TOOL_ITERATIONS_DEFAULT } from './limits.ts';
import { listBlocks } from './plan.ts';

export type ToolDefinition = {
  type: 'function';
  function: {
    name: string;
    description?: string | undefined;
    /** A JSON Schema. */
    parameters?: { [key: string]: unknown } | undefined;
    strict?: boolean | null | undefined;
  };
};

export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } };

/** `arguments` is the JSON text of an object, as the model wrote it. Further fields are state as those of AssistantMessage. */
export type ToolCall = {
  id: string;
  type: 'function';
  function: { name: string; arguments: string; [field: string]: unknown };
  [field: string]: unknown;
};

/**
 * A message of the model. Further fields are opaque state that its provider wants back unchanged. `provider_state` holds what has
 * no place in a chat completion, with the name of the API that made it as `api`; other APIs do not read it.
 */
export type AssistantMessage = {
  role: 'assistant';
  content?: string | null | undefined;
  tool_calls?: ToolCall[] | undefined;
  provider_state?: { api: string; [field: string]: unknown } | undefined;
  [field: string]: unknown;
};

export type ToolCallMessage =
  | { role: 'user'; content: string }
  | AssistantMessage
  | { role: 'tool'; tool_call_id: string; content: string };

/** The point at which a run waits for its caller's tools. */
export type PausePoint = {
  step_id: string;
  /** Tool-call round-trips of this block so far, the requested one included. */
  iterations: number;
  tool_call_ids: string[];
  /** The model that called the tools: its state goes back to its provider only. */
  model: string;
};

/**
 * The reply of a block whose model calls tools. `carriedBytes`: what the outputs count as that the run's caller sent with this
 * call.
 */
export type Pause = { paused: PausePoint; carriedBytes?: number };

export function isPause(reply: object): reply is Pause {
  return 'paused' in reply;
}

/** Lists the step_ids of the blocks that can pause: tools-enabled blocks at the top level. */
export function listToolSteps(definition: FlowDefinition): string[] {
  return definition.steps.filter(isToolStep).map((step) => step.step_id);
}

function isToolStep(step: Step): boolean {
  return step.type === 'sequential' && step.processor_config?.tools_enabled === true;
}

/** Throws TOOLS_NOT_ENABLED or TOOLS_IN_NON_SEQUENTIAL_STEP when this flow can't take tools. */
export function requireToolSteps(definition: FlowDefinition): void {
  const enabled = listBlocks(definition).filter((block) => block.processor_config?.tools_enabled);
  if (enabled.length === 0)
    throw new ServiceError(
      'TOOLS_NOT_ENABLED',
      'No block of this flow has processor_config.tools_enabled: enable it on one, or leave tools out.',
    );
  const alone = new Set(listToolSteps(definition));
  const inside = enabled.find(({ step_id }) => !alone.has(step_id));
  if (inside)
    throw new ServiceError(
      'TOOLS_IN_NON_SEQUENTIAL_STEP',
      `The block ${inside.step_id} calls tools inside a parallel or loop step: only a sequential step can.`,
      { step_id: inside.step_id },
    );
}

/** Returns the most tool-call round-trips that the block may take. */
export function iterationCap(block: Block): number {
  return block.processor_config?.max_tool_iterations ?? MAX_TOOL_ITERATIONS_DEFAULT;
}

/** Counts how often the model asked for tools in a conversation. */
export function countRounds(messages: ToolCallMessage[]): number {
  return messages.filter(hasCalls).length;
}

/**
 * Throws TOOL_RESULTS_MISMATCH unless each tool call has exactly one result, directly after its message, and the
 * conversation ends with the results of the calls with the ids `expected`.
 */
export function requireMatchingResults(messages: ToolCallMessage[], expected: string[]): void {
  let round: { asked: string[]; answered: string[] } | undefined;
  let afterCalls = 0;
  const listReceived = () => listResults(messages.slice(afterCalls));
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!round) throw mismatch(expected, listReceived());
      round.answered.push(message.tool_call_id);
      continue;
    }
    if (round && !sameIds(round.asked, round.answered)) throw mismatch(round.asked, round.answered);
    round = hasCalls(message) ? { asked: message.tool_calls.map(({ id }) => id), answered: [] } : undefined;
    if (round) afterCalls = index + 1;
  }
  const { asked = [], answered = [] } = round ?? {};
  if (!sameIds(asked, expected) || !sameIds(asked, answered)) throw mismatch(expected, listReceived());
}

/** Lists the ids that the results in a conversation answer. */
function listResults(messages: ToolCallMessage[]): string[] {
  return messages.flatMap((message) => (message.role === 'tool' ? message.tool_call_id : []));
}

function hasCalls(message: ToolCallMessage): message is AssistantMessage & { tool_calls: ToolCall[] } {
  return message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 0;
}

function sameIds(a: string[], b: string[]): boolean {
  const known = new Set(b);
  return a.length === b.length && new Set(a).size === a.length && a.every((id) => known.has(id));
}

function mismatch(
  expected: string[],
  received: string[],
  message = 'Each id in tool_calls needs exactly one message {role: tool, tool_call_id, content} directly after the assistant message with them, no other id may have one, and the conversation must end with the results of the last tool_calls.',
): ServiceError {
  return new ServiceError('TOOL_RESULTS_MISMATCH', message, { expected, received });
}

/** Makes the error of a resume of a session that waits for no results; none is expected. */
export function noResultsExpected(messages: ToolCallMessage[]): ServiceError {
  return mismatch(
    [],
    listResults(messages.slice(messages.findLastIndex(hasCalls) + 1)),
    'The session waits for no tool results at this step; if it did, another call has gone on from there. Without toolCallMessages, the step begins again; a resume that failed can be sent again only as it was.',
  );
}

const SAME_RESUME = 'Only the resume that was accepted can be sent again.';

/**
 * Makes the error of a resume for which no run is waiting. `run`: the run that it names, with the pause at which that waits
 * now; undefined when it names none of this flow.
 */
export function notPaused(run?: { status: string; pause: PausePoint | null }): ServiceError {
  const invalid = (message: string) => new ServiceError('EXECUTION_ID_INVALID', message);
  if (!run)
    return invalid(
      'There is no run of /execute of this flow with this executionId: send back what the pause answered.',
    );
  if (run.status === 'failed')
    return invalid(
      `The run has failed or was cancelled, so it waits for no tool results. ${SAME_RESUME} Otherwise start another run.`,
    );
  if (run.pause)
    return invalid(
      `The run waits for tool results at the step ${run.pause.step_id}: send back what its last pause answered.`,
    );
  return invalid(
    `The run waits for no tool results: it has gone on or ended. ${SAME_RESUME} GET …/jobs/{executionId} has its state.`,
  );
}
