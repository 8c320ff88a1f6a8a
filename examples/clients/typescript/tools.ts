// Runs a flow whose model calls our functions: the run pauses, we answer, until it has completed.
//   npx weir flow push examples/tools.yaml --project demo/demo --production
//   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… npx node examples/clients/typescript/tools.ts 'Somewhere warm'
import { call, type Execution, type ToolCall, type ToolResult } from './weir.ts';

const city = { type: 'string', enum: ['Lagos', 'Lima', 'Oslo'] };
const parameters = { type: 'object', properties: { city }, required: ['city'] };
const tools = [
  { type: 'function', function: { name: 'get_weather', description: 'The weather in a city', parameters } },
  { type: 'function', function: { name: 'get_events', description: 'What is on in a city', parameters } },
];

type Tool = (asked: { city: string }) => Promise<object>;
const functions: Record<string, Tool | undefined> = {
  get_weather: async ({ city }) => ({ city, celsius: 29 }),
  get_events: async ({ city }) => ({ city, events: ['Jazz in the park'] }),
};

/** Runs a function; an error is a result too, which the model reads. */
async function runTool({ id, function: { name, arguments: text } }: ToolCall): Promise<ToolResult> {
  console.log(`The model calls ${name}(${text}).`);
  const content = await answer(name, text).catch((error: unknown) => ({ error: String(error) }));
  return { role: 'tool', tool_call_id: id, content: JSON.stringify(content) };
}

async function answer(name: string, text: string): Promise<object> {
  const tool = functions[name];
  if (!tool) throw new Error(`There is no tool ${name}.`);
  return tool(JSON.parse(text));
}

const path = 'demo/demo/tools/execute';
const message = process.argv[2] ?? 'Somewhere warm';
let run = await call<Execution>('POST', path, { message, tools });
while (run.status === 'tool_calls_required') {
  const { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState } = run;
  const results = await Promise.all(run.toolCalls.map(runTool));
  const toolCallMessages = [...run.toolCallMessages, ...results];
  const echo = { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState };
  run = await call<Execution>('POST', path, { ...echo, toolCallMessages, tools });
}
if (run.status === 'failed') throw new Error(run.errorMessage);
console.log(JSON.stringify(run.result, null, 2));
