// The flows whose histories test/workflows/record-histories.ts records.
import type { Step } from '../../flow/definition.ts';
import { code, llm, passthrough } from '../blocks.ts';

/** Models that are called before, so that they are known as fast: their calls are local activities. */
export const FAST_MODELS = ['demo/chat', 'demo/slow-1500'];

/** Flows that run to their end, by the name of the history. */
export const FLOWS: { [name: string]: Step[] } = {
  empty: [],
  sequential: [
    code('a', 'return { text: message };'),
    passthrough('b'),
    llm('c', '{{previous_output}}', 'demo/chat'),
  ],
  parallel: [
    {
      type: 'parallel',
      step_id: 'p',
      name: 'p',
      branches: { model: [llm('m', 'x', 'demo/chat')], code: [code('n', 'return 1;'), passthrough('o')] },
    },
  ],
  loops: [
    code('list', 'return [[1, 2], [3]];'),
    {
      type: 'loop',
      step_id: 'outer',
      name: 'outer',
      max_iterations: 5,
      body: [
        {
          type: 'loop',
          step_id: 'inner',
          name: 'inner',
          max_iterations: 5,
          body: [llm('item', '{{previous_output}}', 'demo/chat')],
        },
      ],
    },
  ],
  'until-large': [
    {
      type: 'loop',
      step_id: 'again',
      name: 'again',
      max_iterations: 3,
      until: { pointer: '/n', equals: 2 },
      body: [code('grow', 'return { n: (input.n ?? 0) + 1, text: "x".repeat(10_000) };')],
    },
  ],
  'failed-code': [passthrough('a'), code('b', 'throw new Error("no");')],
  'failed-branch': [
    {
      type: 'parallel',
      step_id: 'p',
      name: 'p',
      branches: {
        bad: [llm('wait', 'x', 'demo/slow-300'), code('bad', 'throw new Error("no");')],
        slow: [llm('slow', 'x', 'demo/slow-60000')],
      },
    },
  ],
  'model-local': [llm('a', '{{message}}', 'demo/chat'), llm('b', '{{previous_output}}', 'demo/chat')],
  'model-regular': [llm('a', 'x', 'demo/slow-3000'), llm('b', '{{previous_output}}', 'demo/chat')],
  'not-an-array': [{ type: 'loop', step_id: 'l', name: 'l', max_iterations: 5, body: [passthrough('x')] }],
};

/** Flows that are cancelled while they wait. */
export const CANCELLED_FLOWS: { [name: string]: Step[] } = {
  'cancelled-model': [code('a', 'return 1;'), llm('wait', 'x', 'demo/slow-60000'), passthrough('b')],
  'cancelled-local-model': [
    llm('a', 'x', 'demo/slow-1500'),
    llm('wait', 'x', 'demo/slow-1500'),
    passthrough('b'),
  ],
  'cancelled-code': [code('spin', 'for (;;);', { processor_config: { timeout_ms: 30_000 } })],
};

/** The names of the histories that test/workflows/record-histories.ts records. */
export const HISTORY_NAMES = [
  ...Object.keys(FLOWS),
  ...Object.keys(CANCELLED_FLOWS),
  'model-refused',
  'paused',
  'resumed',
  'rescheduled',
  'run-tests',
  'run-tests-with-tools',
  'callback',
  'delivery-postponed',
  'delivery-retried',
  'delivery-failed',
  'delivery-rescheduled',
];
