// Sound answers in other forms than a plain chat completion.
import assert from 'node:assert/strict';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import type { ModelRequest } from '../../../activities/model/ask-model.ts';
import type { Block } from '../../../flow/definition.ts';
import { type Behaviour, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5 };
const say = (message: object, choice: object = {}) =>
  respond(200, {
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    usage,
  });

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason }],
});
const events = (...chunks: object[]) =>
  `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}`;
const stream = (body: string, type = 'text/event-stream') => respond(200, body, { 'content-type': type });
const DONE = 'data: [DONE]\n\n';

const CONTENTS: [name: string, message: object, reasoning?: string][] = [
  [
    'parts of text',
    {
      content: [
        { type: 'text', text: 'Os' },
        { type: 'output_text', text: 'lo' },
      ],
    },
  ],
  [
    'a thinking part',
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Norway' }] },
        { type: 'text', text: 'Oslo' },
      ],
    },
    'Norway',
  ],
  ['a text after a byte order mark', { content: '\ufeffOslo' }],
  ['texts in a list', { content: ['Oslo'] }],
  ['an object', { content: { type: 'text', text: 'Oslo' } }],
  ["Gemini's parts", { content: { parts: [{ thought: true, text: 'Norway' }, { text: 'Oslo' }] } }, 'Norway'],
  ['reasoning_content', { content: 'Oslo', reasoning_content: 'Norway' }, 'Norway'],
  [
    'reasoning, twice',
    { content: 'Oslo', reasoning: 'Norway', reasoning_details: [{ type: 'reasoning.text', text: 'Norway' }] },
    'Norway',
  ],
  ['reasoning in its text', { content: '<think>\nNorway\n</think>\n\nOslo' }, 'Norway'],
  ['reasoning whose beginning is missing', { content: 'Norway\n</think>\n\nOslo' }, 'Norway'],
  ['reasoning in its text, twice', { content: '<think>Nor</think>\n<think>way</think>\nOslo' }, 'Nor\nway'],
  ["Magistral's marks", { content: '[THINK]Norway[/THINK]Oslo' }, 'Norway'],
  ['the marks of Seed', { content: '<seed:think>Norway</seed:think>Oslo' }, 'Norway'],
  ["Kimi's marks", { content: '◁think▷Norway◁/think▷Oslo' }, 'Norway'],
  [
    "Command's marks",
    {
      content: '<|START_THINKING|>Norway<|END_THINKING|><|START_RESPONSE|>Oslo<|END_RESPONSE|>',
    },
    'Norway',
  ],
  ["Gemma's marks", { content: '<|channel>thought\nNorway<channel|>Oslo' }, 'Norway'],
  ['the end of the turn', { content: 'Oslo<|im_end|>' }],
  ['the end of the text', { content: 'Oslo</s>' }],
  ['a model that ends its turn without end', { content: `Oslo${'<|im_end|>'.repeat(20_000)}` }],
  [
    "gpt-oss's channels",
    {
      content:
        '<|channel|>analysis<|message|>Norway<|end|><|start|>assistant<|channel|>final<|message|>Oslo<|return|>',
    },
    'Norway',
  ],
  [
    'parts of other types',
    {
      content: [
        { type: 'thinking_delta', text: 'Norway' },
        { type: 'mystery', text: '?' },
        { type: 'text', text: 'Oslo' },
      ],
    },
    'Norway',
  ],
  ['tool calls that are null', { content: 'Oslo', tool_calls: null, refusal: null }],
  ['no tool calls', { content: 'Oslo', tool_calls: [] }],
];

const BODIES: [name: string, behaviour: Behaviour][] = [
  [
    'an event stream',
    stream(
      events(chunk({ role: 'assistant', content: 'Os' }), chunk({ content: 'lo' }, 'stop'), {
        choices: [],
        usage,
      }) + DONE,
    ),
  ],
  [
    'an event stream with comments and other line ends',
    stream(
      `: waiting\r\n\r\nevent: x\r\ndata: ${JSON.stringify(chunk({ content: 'Oslo' }, 'stop'))}\r\n\r\n`,
    ),
  ],
  [
    'an event stream without empty lines',
    stream(
      `data: ${JSON.stringify(chunk({ content: 'Os' }))}\ndata: ${JSON.stringify(chunk({ content: 'lo' }, 'stop'))}\ndata: [DONE]\n`,
    ),
  ],
  [
    'an event stream with something else between its chunks',
    stream(`${events(chunk({ content: 'Os' }))}data: ping\n\n${events(chunk({ content: 'lo' }, 'stop'))}`),
  ],
  ['an event stream after a byte order mark', stream(`\ufeff${events(chunk({ content: 'Oslo' }, 'stop'))}`)],
  [
    'an event stream that is named JSON',
    stream(events(chunk({ content: 'Oslo' }, 'stop')) + DONE, 'application/json'),
  ],
  [
    'JSON lines',
    stream(
      `${JSON.stringify(chunk({ content: 'Os' }))}\n${JSON.stringify(chunk({ content: 'lo' }, 'stop'))}\n`,
      'application/x-ndjson',
    ),
  ],
  [
    'JSON before the end of a stream',
    stream(
      `${JSON.stringify({ choices: [{ message: { content: 'Oslo' }, finish_reason: 'stop' }] })}\n\n${DONE}`,
      'application/json',
    ),
  ],
  [
    'JSON after the comments of a stream',
    stream(
      `: PROCESSING\n\n: PROCESSING\n\n${JSON.stringify({ choices: [{ message: { content: 'Oslo' }, finish_reason: 'stop' }] })}`,
    ),
  ],
  [
    'JSON of another type',
    stream(JSON.stringify({ choices: [{ message: { content: 'Oslo' } }] }), 'text/plain'),
  ],
  [
    'JSON after a byte order mark',
    stream(`\ufeff${JSON.stringify({ choices: [{ message: { content: 'Oslo' } }] })}`),
  ],
  ['a single chunk', respond(200, chunk({ content: 'Oslo' }, 'stop'))],
];

const OBJECT: Partial<Block> = {
  outputSchema: {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  },
};
const READ = [
  '{"n": 1}\n\nNote: I chose 1.',
  'See [1] and {this}: {"n": 1}; done',
  '```json {"n": 1} ```',
  '```json\n{"n": 1}\n```\nTo read it: ```jq .n```',
  'Input ```json\n{"x": 2}\n``` gives ```json\n{"n": 1}\n```',
  '{"n": 1}\n{"n": 1}',
  '"{\\"n\\": 1}"',
  '\ufeff{"n": 1}',
  '{"n": 1,}',
  'The prompt had the tag.</think>{"n": 1}',
];
const NOT_READ = [
  ['two values', '{"n": 1} or {"n": 2}'],
  ['a value inside a broken one', '{"a": {"n": 1}, oops}'],
  ['a value inside one that is cut off', '{"a": {"n": 1}, "b": '],
] as const;

describe('an answer in another wrapping', () => {
  const harness = useAskModel();

  for (const [name, message, reasoning] of CONTENTS)
    it(`is read, apart from its reasoning (${name})`, async () => {
      const answers: ModelRequest['answers'] = {};
      harness.server.will(say(message));
      assert.equal((await harness.call({}, undefined, { answers })).output, 'Oslo');
      assert.equal(answers.last?.reasoning, reasoning);
    });

  for (const [name, behaviour] of BODIES)
    it(`is read from ${name}`, async () => {
      harness.server.will(behaviour);
      assert.equal((await harness.call()).output, 'Oslo');
    });

  // Gemini gives each call of an answer the index 0; vLLM has given each part of a call another id.
  for (const [index, partId] of [[1], [0], [1, 'p']] as const)
    it(`has its usage and its tool calls put together from a stream (${index} ${partId})`, async () => {
      const call = (part: object) => chunk({ tool_calls: [{ index: 0, ...part }] });
      harness.server.will(
        stream(
          events(
            call({ id: 'a', type: 'function', function: { name: 'find', arguments: '' } }),
            call({ id: partId, function: { arguments: '{"q":' } }),
            call({ function: { arguments: '1}' } }),
            chunk(
              { tool_calls: [{ index, id: 'b', function: { name: 'find', arguments: '{}' } }] },
              'tool_calls',
            ),
            { choices: [], usage },
          ) + DONE,
        ),
      );
      const tools = [{ type: 'function', function: { name: 'find' } } as const];
      const { output, promptTokens } = await harness.call({}, undefined, { tools });
      const calls = (output as { tool_calls?: { id: string; function: { arguments: string } }[] }[]).at(
        -1,
      )?.tool_calls;
      assert.deepEqual(
        calls?.map(({ id, function: { arguments: text } }) => [id, text]),
        [
          ['a', '{"q":1}'],
          ['b', '{}'],
        ],
      );
      assert.equal(promptTokens, 10);
    });

  for (const text of [
    '<critical_thinking>x</critical_thinking>y',
    '<reasoning>It ends with a stop sequence.',
    'Old <s>text</s>',
    'Write <think>x</think>.',
    'End it with `</think>`, as in R1.',
    '{"a": "</think>b"}',
  ])
    it(`is all text where it only speaks of a tag: ${text}`, async () => {
      harness.server.will(say({ content: text }));
      assert.equal((await harness.call()).output, text);
    });

  it('is none where its reasoning does not end', () =>
    assert.rejects(
      harness.callAfter(say({ content: '<think>Norway' })),
      fails('MODEL_OUTPUT_INCOMPLETE', /after its reasoning/),
    ));

  it('has the parts of its state put together from a stream, by their index', async () => {
    const part = (...reasoning_details: object[]) => chunk({ reasoning_details });
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } };
    harness.server.will(
      stream(
        events(
          part({ type: 'reasoning.text', text: 'Nor', index: 0 }),
          part(
            { type: 'reasoning.text', text: 'way', index: 0 },
            { type: 'reasoning.encrypted', data: 'x', index: 1 },
          ),
          part({ type: 'reasoning.text', text: null, signature: 'Et8B', index: 0 }),
          chunk({ tool_calls: [call] }, 'tool_calls'),
        ) + DONE,
      ),
    );
    const tools = [{ type: 'function', function: { name: 'find' } } as const];
    const { output } = await harness.call({}, undefined, { tools });
    assert.deepEqual((output as Record<string, unknown>[]).at(-1)?.reasoning_details, [
      { type: 'reasoning.text', text: 'Norway', index: 0, signature: 'Et8B' },
      { type: 'reasoning.encrypted', data: 'x', index: 1 },
    ]);
  });

  it('asks for no stream', async () => {
    harness.server.will(say({ content: 'Oslo' }));
    await harness.call();
    assert.equal(harness.server.calls[0]?.body.stream, false);
  });

  it('is MODEL_OUTPUT_INCOMPLETE where its stream ends too early', () =>
    assert.rejects(
      harness.callAfter(stream(events(chunk({ content: 'Os' })))),
      fails('MODEL_OUTPUT_INCOMPLETE', /too early/),
    ));

  it('has the words of a server that answers with something else than JSON', () =>
    assert.rejects(
      harness.callAfter(stream('<html><head><title>Sign in</title></head></html>', 'text/html')),
      (error: unknown) => error instanceof ModelUnavailable && /invalid JSON: Sign in\./.test(error.message),
    ));

  it('has the words of a stream that is an error alone', () =>
    assert.rejects(
      harness.callAfter(stream('event: error\ndata: {"message": "Out of memory"}\n\n')),
      (error: unknown) => error instanceof ModelUnavailable && /Out of memory/.test(error.message),
    ));

  it('is MODEL_OUTPUT_INCOMPLETE where its stream has an error', () =>
    assert.rejects(
      harness.callAfter(stream(events(chunk({ content: 'Os' }), { error: { message: 'Overloaded' } }))),
      fails('MODEL_OUTPUT_INCOMPLETE', /Overloaded/),
    ));

  for (const text of READ)
    it(`is JSON: ${JSON.stringify(text)}`, async () => {
      harness.server.will(say({ content: text }));
      assert.deepEqual((await harness.call(OBJECT)).output, { n: 1 });
    });

  for (const [name, text] of NOT_READ)
    it(`is not guessed from ${name}`, async () => {
      harness.server.will(say({ content: text }), say({ content: '{"n": 3}' }));
      assert.deepEqual((await harness.call(OBJECT)).output, { n: 3 });
    });

  it('is the JSON text itself where the schema takes a string', async () => {
    harness.server.will(say({ content: '"{\\"n\\": 1}"' }));
    assert.equal((await harness.call({ outputSchema: { type: ['string', 'object'] } })).output, '{"n": 1}');
  });

  const formatted = JSON.stringify({ n: 1 });
  for (const [name, message, reason] of [
    ['as its reasoning', { content: null, reasoning_content: formatted }, 'stop'],
    [
      'as the call of the tool with which a gateway asks for a format',
      {
        content: null,
        tool_calls: [{ id: 'a', function: { name: 'json_tool_call', arguments: formatted } }],
      },
      'tool_calls',
    ],
  ] as const)
    it(`is JSON that a server has left ${name}`, async () => {
      harness.server.will(say(message, { finish_reason: reason }));
      assert.deepEqual((await harness.call(OBJECT)).output, { n: 1 });
    });

  it('is JSON in the call of such a tool, also beside tools that were offered', async () => {
    const called = { name: 'json_tool_call', arguments: formatted };
    harness.server.will(
      say({ content: null, tool_calls: [{ id: 'a', function: called }] }, { finish_reason: 'tool_calls' }),
    );
    const tools = [{ type: 'function', function: { name: 'find' } } as const];
    assert.deepEqual((await harness.call(OBJECT, undefined, { tools })).output, { n: 1 });
  });

  for (const [name, message] of [
    ['reasoning that only has JSON in it', { content: null, reasoning_content: `Perhaps ${formatted}?` }],
    ['reasoning beside an answer', { content: '{"m": 1}', reasoning_content: formatted }],
    [
      'two calls',
      {
        content: null,
        tool_calls: [1, 2].map((n) => ({ function: { name: 'f', arguments: JSON.stringify({ n }) } })),
      },
    ],
  ] as const)
    it(`is not taken from ${name}`, async () => {
      harness.server.will(say(message), say({ content: '{"n": 3}' }));
      assert.deepEqual((await harness.call(OBJECT)).output, { n: 3 });
    });

  it('is JSON where the model has left line ends in a string', async () => {
    harness.server.will(say({ content: '```json\n{"text": "a, }\n\tb",\n}\n```' }));
    const { output } = await harness.call({ outputSchema: { type: 'object' } });
    assert.deepEqual(output, { text: 'a, }\n\tb' });
  });

  it('is an object that the server has parsed', async () => {
    harness.server.will(say({ content: { n: 1 } }));
    assert.deepEqual((await harness.call(OBJECT)).output, { n: 1 });
  });

  for (const content of ['', null])
    it(`is sent back for its repair with words where it is empty (${content})`, async () => {
      harness.server.will(say({ content }), say({ content: '{"n": 1}' }));
      assert.deepEqual((await harness.call(OBJECT)).output, { n: 1 });
      const messages = harness.server.calls[1]?.body.messages as { content: unknown }[];
      for (const message of messages) assert.ok(message.content, JSON.stringify(messages));
    });

  for (const [content, why] of [
    [' ', /the value is empty/],
    ['I cannot say.', /the value is not JSON\./],
  ] as const)
    it(`fails with words for a text without JSON (${content.trim()})`, async () => {
      harness.server.will(say({ content }), say({ content }));
      await assert.rejects(harness.call(OBJECT), fails('MODEL_OUTPUT_INVALID', why));
    });
});
