// Answers the tool calls of a test case's run with the results that the case has recorded.
import type { Db } from '../db/connect.ts';
import { accumulateOutputs } from '../db/runs/accumulate-outputs.ts';
import { loadBlockOutput } from '../db/runs/block-runs.ts';
import { getRunInput } from '../db/runs/runs.ts';
import { acceptToolResults } from '../db/test-runs/test-runs.ts';
import type { FlowDefinition } from '../flow/definition.ts';
import { sanitizeMessage } from '../flow/errors.ts';
import { listBlocks, toPlan } from '../flow/plan.ts';
import { toText } from '../flow/template.ts';
import type { TestInput, ToolAnswers, UsedResults, Verdict } from '../flow/test-case.ts';
import { iterationCap, type PausePoint, type ToolCall, type ToolCallMessage } from '../flow/tool-calls.ts';
import { INPUT_REF } from '../flow/value.ts';

const ARGUMENTS_MAX_LENGTH = 300;

type Results = NonNullable<TestInput['tool_results']>;
type Pause = { executionId: string; callId: string; pause: PausePoint; used: UsedResults };

/**
 * Accepts the call that goes on with the results of a case; each call of a tool takes the next result of its name. Returns the
 * verdict when there is none left, or the block may call no tools again.
 */
export async function answerToolCalls(
  db: Db,
  definition: FlowDefinition,
  results: Results,
  { executionId, callId, pause, used: before }: Pause,
): Promise<ToolAnswers | Verdict> {
  const block = listBlocks(definition).find(({ step_id }) => step_id === pause.step_id);
  const cap = block ? iterationCap(block) : 0;
  if (pause.iterations > cap)
    return failed(
      `The block ${pause.step_id} called tools in ${pause.iterations} rounds; its processor_config.max_tool_iterations is ${cap}.`,
    );
  const { output } = await loadBlockOutput(db, callId, pause.step_id);
  const messages = output as ToolCallMessage[];
  const used = { ...before };
  const answers: ToolCallMessage[] = [];
  for (const call of listCalls(messages)) {
    const { name } = call.function;
    const count = used[name] ?? 0;
    const found = results.filter((result) => result.name === name)[count];
    if (!found) return failed(describeMissing(call, count));
    used[name] = count + 1;
    answers.push({ role: 'tool', tool_call_id: call.id, content: toText(found.result) });
  }
  const { continuation } = await getRunInput(db, callId);
  const run = { callId, from: continuation?.from ?? null, definition };
  const outputs = await accumulateOutputs(db, run, pause.step_id);
  const next = { callId, pause, messages: [...messages, ...answers], outputs };
  const { callId: id, from } = await acceptToolResults(db, executionId, definition, next);
  return {
    call: { executionId, callId: id },
    input: {
      executionId: id,
      steps: toPlan(definition.steps).slice(from),
      ...(from > 0 && { input: { ref: INPUT_REF } }),
      continues: true,
    },
    used,
  };
}

function listCalls(messages: ToolCallMessage[]): ToolCall[] {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? (last.tool_calls ?? []) : [];
}

function describeMissing({ function: { name, arguments: sent } }: ToolCall, count: number): string {
  const has = count === 0 ? 'no result' : `only ${count} ${count === 1 ? 'result' : 'results'}`;
  const text = sent.length > ARGUMENTS_MAX_LENGTH ? `${sent.slice(0, ARGUMENTS_MAX_LENGTH)}…` : sent;
  return `The model called the tool ${name} with ${text}. The test case has ${has} of this tool: add one to its tool_results.`;
}

function failed(why: string): Verdict {
  return { status: 'failed', why: sanitizeMessage(why) };
}
