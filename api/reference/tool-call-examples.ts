// Example requests and answers of runs that pause for tool calls, in the API reference.
import { completed } from './run-examples.ts';

const { executionId, flowId, blockCount, cost, blocks } = completed;

const ask = { role: 'user', content: 'What is the weather in Paris?' };
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
};
export const conversation = [ask, { role: 'assistant', content: null, tool_calls: [call] }];
const answered = [...conversation, { role: 'tool', tool_call_id: 'call_1', content: '{"celsius":21}' }];
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

export const toolsRequest = { message: 'Paris', tools, toolChoice: 'auto' };

export const resumeRequest = {
  executionId,
  pausedAtStep: 'ask',
  iterationsUsed: 1,
  toolCallMessages: answered,
  accumulatedOutputs: {},
  tools,
};

export const paused = {
  executionId,
  status: 'tool_calls_required',
  pausedAtStep: 'ask',
  iterationsUsed: 1,
  toolCallMessages: conversation,
  toolCalls: [call],
  accumulatedOutputs: {},
  resumeState: 'eyJhbGciOiJIUzI1NiJ9.eyJleGVjdXRpb25JZCI6IjZhMWYwYzUyIn0.pO1…',
  flowId,
  blockCount,
  cost,
  blocks: [{ ...blocks[1], step_id: 'ask', key: 'ask', name: 'Ask', status: 'paused' }],
};
