// Only an answer with a normal end is one.
import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../flow/errors.ts';
import { respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5 };
const end = (choice: object, message: object = { content: 'Ada was' }) =>
  respond(200, { choices: [{ index: 0, message: { role: 'assistant', ...message }, ...choice }], usage });

const NORMAL = [
  'stop',
  'STOP',
  'end_turn',
  'stop_sequence',
  'eos',
  '<|im_end|>',
  '</s>',
  'normal',
  'end_of_turn',
  'FinishReason.STOP',
  '',
  null,
  undefined,
];
const OTHERS: [code: ErrorCode, reasons: string[]][] = [
  [
    'MODEL_OUTPUT_INCOMPLETE',
    [
      ...['length', 'max_tokens', 'MAX_TOKENS', 'model_length', 'model_context_window_exceeded'],
      ...['max-tokens', 'out_of_tokens'],
    ],
  ],
  [
    'MODEL_OUTPUT_INCOMPLETE',
    ['error', 'abort', 'cancelled', 'insufficient_system_resource', 'pause_turn', 'OTHER', 'unheard_of'],
  ],
  [
    'MODEL_REFUSED',
    [
      ...['content_filter', 'content_filter: PROHIBITED_CONTENT', 'SAFETY', 'RECITATION', 'refusal'],
      ...['PROHIBITED_CONTENT', 'guardrail_intervened', 'content-filter', 'ERROR_TOXIC', 'model_armor'],
    ],
  ],
];
const tools = [{ type: 'function', function: { name: 'find' } } as const];

describe('the end of an answer', () => {
  const harness = useAskModel();

  for (const reason of NORMAL)
    it(`is normal: ${JSON.stringify(reason)}`, async () => {
      harness.server.will(end({ finish_reason: reason }));
      assert.equal((await harness.call()).output, 'Ada was');
    });

  for (const [code, reasons] of OTHERS)
    for (const reason of reasons)
      it(`is ${code}, and charged: ${reason}`, async () => {
        await assert.rejects(harness.callAfter(end({ finish_reason: reason })), fails(code, /gpt-4o-mini/));
        assert.equal(harness.usage.promptTokens, 10);
      });

  for (const [reason, code] of [
    ['content_filter', 'MODEL_REFUSED'],
    ['length', 'MODEL_OUTPUT_INCOMPLETE'],
  ] as const)
    it(`is ${code}, and asked for once, where the message is missing: ${reason}`, async () => {
      harness.server.will(respond(200, { choices: [{ index: 0, finish_reason: reason }], usage }));
      await assert.rejects(harness.call(), fails(code, /gpt-4o-mini/));
      assert.equal(harness.server.calls.length, 1);
    });

  it("is what the model's own reason says, where a gateway says that all went well", () =>
    assert.rejects(
      harness.callAfter(end({ finish_reason: 'stop', native_finish_reason: 'MAX_TOKENS' })),
      fails('MODEL_OUTPUT_INCOMPLETE', /token limit/),
    ));

  it("is normal where the model's own reason is not known", async () => {
    harness.server.will(end({ finish_reason: 'stop', native_finish_reason: 'completed_by_vendor' }));
    assert.equal((await harness.call()).output, 'Ada was');
  });

  for (const reason of ['MALFORMED_FUNCTION_CALL', 'function_call_filter: UNEXPECTED_TOOL_CALL']) {
    it(`is asked for once more, and paid, after ${reason}`, async () => {
      harness.server.will(end({ finish_reason: reason }, { content: null }), end({ finish_reason: 'stop' }));
      const { output, promptTokens } = await harness.call({}, undefined, { tools });
      assert.deepEqual([output, promptTokens], ['Ada was', 20]);
    });

    it(`is MODEL_OUTPUT_INVALID after the second ${reason}`, async () => {
      const malformed = end({ finish_reason: reason }, { content: null });
      harness.server.will(malformed, malformed);
      await assert.rejects(harness.call({}, undefined, { tools }), fails('MODEL_OUTPUT_INVALID', /twice/));
    });
  }

  for (const [name, message] of [
    ['empty', { content: '' }],
    ['null', { content: null }],
    ['blank', { content: ' \n' }],
    ['reasoning alone', { content: '', reasoning_content: 'Ada is' }],
    ['no part', { content: [] }],
  ] as const)
    it(`is MODEL_OUTPUT_INCOMPLETE without an answer (${name})`, () =>
      assert.rejects(
        harness.callAfter(end({ finish_reason: 'stop' }, message)),
        fails('MODEL_OUTPUT_INCOMPLETE', /before it said anything/),
      ));

  for (const reason of ['tool_calls', 'function_call'])
    for (const [where, more] of [
      ['where tools were offered', { tools }],
      ['where none were', {}],
    ] as const)
      it(`is asked for once more after ${reason} without calls, ${where}`, async () => {
        const half = end({ finish_reason: reason });
        harness.server.will(half, end({ finish_reason: 'stop' }, { content: 'Ada' }));
        assert.equal((await harness.call({}, undefined, more)).output, 'Ada');
        harness.server.will(half, end({ finish_reason: reason }, { content: null, tool_calls: [] }));
        await assert.rejects(
          harness.call({}, undefined, more),
          fails('MODEL_OUTPUT_INCOMPLETE', /called none that/),
        );
      });

  it('is that of one tool call where it is a function_call', async () => {
    const called = { name: 'find', arguments: '{"q":1}' };
    harness.server.will(end({ finish_reason: 'function_call' }, { content: null, function_call: called }));
    const { output } = await harness.call({}, undefined, { tools });
    const message = (output as Record<string, unknown>[]).at(-1);
    assert.partialDeepStrictEqual(message, { tool_calls: [{ type: 'function', function: called }] });
    assert.equal(Object.hasOwn(message ?? {}, 'function_call'), false);
  });

  it('is not called a tool call where no tool was offered', async () => {
    const malformed = end({ finish_reason: 'malformed_response' }, { content: null });
    harness.server.will(malformed, malformed);
    await assert.rejects(harness.call(), fails('MODEL_OUTPUT_INVALID', /wrote an answer that .* twice/));
  });

  it('may be empty after the results of tools', async () => {
    harness.server.will(end({ finish_reason: 'stop' }, { content: '' }));
    const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } } as const;
    const conversation = [
      { role: 'user' as const, content: 'Save it.' },
      { role: 'assistant' as const, content: null, tool_calls: [call] },
      { role: 'tool' as const, tool_call_id: 'a', content: 'saved' },
    ];
    assert.equal((await harness.call({}, undefined, { tools, conversation })).output, '');
  });

  it('is that of tool calls where the reason is stop', async () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } }];
    harness.server.will(end({ finish_reason: 'stop' }, { content: '', tool_calls: calls }));
    assert.equal((await harness.call({}, undefined, { tools })).paused, true);
  });
});
