// The official openai client's tool runner drives a flow: it runs our functions until the flow has completed.
//   npm install openai
//   npx weir flow push examples/tools.yaml --project demo/demo --production
//   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… npx node examples/clients/openai-tool-runner.ts 'Somewhere warm'
import OpenAI from 'openai';
import { call, type Execution, type Pause, WeirError } from './typescript/weir.ts';

/**
 * A `fetch` that carries out chat completions by /execute: the first starts a run, those after it bring tool results.
 * For one run. The model, its system prompt and its parameters are those of the flow: what the client sends of them,
 * and of the conversation but its last messages, is not used. No streaming, no token usage.
 */
function executeFlow(flow: string): typeof fetch {
  let pause: Pause | undefined;
  return async (_url, init) => {
    const { messages, tools, tool_choice: toolChoice } = JSON.parse(String(init?.body));
    const last = messages.findLastIndex(({ role }: { role: string }) => role !== 'tool');
    const body = pause
      ? { ...echo(pause), toolCallMessages: [...pause.toolCallMessages, ...messages.slice(last + 1)] }
      : { message: messages[last].content };
    try {
      const run = await call<Execution>('POST', `${flow}/execute`, { ...body, tools, toolChoice });
      if (run.status === 'failed') return refuse(500, run.errorMessage);
      pause = run.status === 'tool_calls_required' ? run : undefined;
      const answer = pause
        ? { content: null, tool_calls: pause.toolCalls }
        : { content: JSON.stringify('result' in run ? run.result : null) };
      const message = { role: 'assistant', refusal: null, ...answer };
      const choice = { index: 0, message, finish_reason: pause ? 'tool_calls' : 'stop' };
      return Response.json({ id: run.executionId, object: 'chat.completion', choices: [choice] });
    } catch (error) {
      if (error instanceof WeirError) return refuse(error.status, error.message);
      throw error;
    }
  };
}

function echo({ executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState }: Pause) {
  return { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState };
}

/** An error as the client expects it. */
function refuse(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}

// `call` repeats requests itself, with one Idempotency-Key; the client must not repeat them as well.
const openai = new OpenAI({ apiKey: 'unused', maxRetries: 0, fetch: executeFlow('demo/demo/tools') });

const city = { type: 'string', enum: ['Lagos', 'Lima', 'Oslo'] };
const parameters = { type: 'object', properties: { city }, required: ['city'] };

const runner = openai.chat.completions
  .runTools({
    model: 'that of the flow',
    messages: [{ role: 'user', content: process.argv[2] ?? 'Somewhere warm' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather in a city',
          parameters,
          parse: JSON.parse,
          function: async ({ city }: { city: string }) => ({ city, celsius: 29 }),
        },
      },
      {
        type: 'function',
        function: {
          name: 'get_events',
          description: 'What is on in a city',
          parameters,
          parse: JSON.parse,
          function: async ({ city }: { city: string }) => ({ city, events: ['Jazz in the park'] }),
        },
      },
    ],
  })
  .on('functionToolCall', ({ name, arguments: text }) => console.log(`The model calls ${name}(${text}).`));

console.log(await runner.finalContent());
