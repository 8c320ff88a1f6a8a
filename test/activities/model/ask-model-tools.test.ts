import assert from 'node:assert/strict';
import type { ToolCallMessage, ToolChoice, ToolDefinition } from '../../../flow/tool-calls.ts';
import { answer, callTools, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'f' } }];
const prompt: ToolCallMessage = { role: 'user', content: 'Who was Ada?' };
const f = { name: 'f', arguments: '{"a":1}' };

/** Stands for a number that JSON.stringify does not write. */
const TOO_LARGE = '"too large"';
/** Lists in lists, as deep as that: JSON.stringify does not get that far. */
const nested = (levels: number) => ({ levels });
const serialize = (calls: readonly object[]) =>
  JSON.stringify(calls)
    .replace(/\{"levels":(\d+)\}/, (_, levels) => '['.repeat(levels) + ']'.repeat(levels))
    .replace(TOO_LARGE, '1e400');

describe('askModel with tools', () => {
  const harness = useAskModel();
  const call = (more: { tool_choice?: ToolChoice; conversation?: ToolCallMessage[] } = {}) =>
    harness.call({}, undefined, { tools, ...more });
  // biome-ignore lint/suspicious/noExplicitAny: conversations of every shape
  const askedFor = async (calls: unknown[], content?: string): Promise<any> => {
    harness.server.will(callTools(calls, content));
    const reply = await call();
    assert.equal(reply.paused, true);
    return reply.output;
  };

  it('answers the conversation, its calls last, and what it cost', async () => {
    harness.server.will(callTools([{ id: 'c1', type: 'function', function: f }]));
    const asked = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: f }],
    };
    assert.deepEqual(await call(), {
      output: [prompt, asked],
      paused: true,
      model: 'openai/gpt-4o-mini',
      promptTokens: 10,
      completionTokens: 5,
      costMicrocredits: 10 * 15 + 5 * 60,
    });
  });

  it('keeps what the model says beside its calls; nothing said is null', async () => {
    const calls = [{ id: 'c1', type: 'function', function: f }];
    assert.equal((await askedFor(calls, 'Let me see'))[1].content, 'Let me see');
    assert.equal((await askedFor(calls, ''))[1].content, null);
  });

  it('gives calls that come without an id, or with that of another, one of their own', async () => {
    const calls = [
      { function: f },
      { id: null, function: f },
      { id: '', function: f },
      { id: 'c', function: f },
    ];
    const [, { tool_calls }] = await askedFor([...calls, { id: 'c', function: f }]);
    const ids: string[] = tool_calls.map(({ id }: { id: string }) => id);
    assert.equal(new Set(ids).size, 5);
    assert.equal(ids[3], 'c');
    for (const id of ids) assert.match(id, /^(c|call_[0-9a-f-]{36})$/);
    for (const { type } of tool_calls) assert.equal(type, 'function');
  });

  it('makes an empty object of missing arguments and leaves others as the model wrote them', async () => {
    const written = ['', 'not json', '{"a":'];
    const calls = [
      { name: 'f' },
      { name: 'f', arguments: null },
      ...written.map((text) => ({ name: 'f', arguments: text })),
    ];
    const [, { tool_calls }] = await askedFor(
      calls.map((each, index) => ({ id: `${index}`, function: each })),
    );
    assert.deepEqual(
      tool_calls.map((each: { function: { arguments: string } }) => each.function.arguments),
      ['{}', '{}', ...written],
    );
  });

  it('hands extra_content of a provider through, and back to it', async () => {
    const extra_content = { google: { thought_signature: 'c2ln' } };
    const conversation = await askedFor([{ id: 'c', type: 'function', function: f, extra_content }]);
    assert.deepEqual(conversation[1].tool_calls[0].extra_content, extra_content);
    harness.server.will(answer('ok'));
    await call({ conversation: [...conversation, { role: 'tool', tool_call_id: 'c', content: '1' }] });
    assert.partialDeepStrictEqual(harness.server.calls[1]?.body, { messages: conversation });
  });

  it('takes calls for none where no tools were offered', async () => {
    harness.server.will(callTools([{ id: 'c', type: 'function', function: f }], 'Hello'));
    assert.deepEqual(
      [(await harness.call()).output, (await harness.server.calls)[0]?.body.tools],
      ['Hello', undefined],
    );
  });

  it('repairs an answer without calling tools, and counts both requests', async () => {
    harness.server.will(answer('no'), answer('{"a":1}'));
    const outputSchema = { type: 'object', required: ['a'] };
    const reply = await harness.call({ outputSchema }, undefined, { tools, tool_choice: 'required' });
    assert.deepEqual([reply.output, reply.paused, reply.promptTokens], [{ a: 1 }, undefined, 20]);
    assert.deepEqual(
      harness.server.calls.map(({ body }) => body.tool_choice),
      ['required', 'none'],
    );
  });

  it('does not check calls against the outputSchema', async () => {
    harness.server.will(callTools([{ id: 'c', type: 'function', function: f }], 'no JSON'));
    const reply = await harness.call({ outputSchema: { type: 'object' } }, undefined, { tools });
    assert.equal(reply.paused, true);
    assert.equal(harness.server.calls.length, 1);
  });

  describe('calls that could not have been asked for', () => {
    const ok = { id: 'c', type: 'function', function: f };
    const own = (key: string): unknown => JSON.parse(`{"${key}": {}}`);
    for (const [name, calls, message] of [
      ['are not a list', 'many', /tool_calls: /],
      ['have no function', [{}], /tool_calls\.0\.function/],
      ['have a name that is not text', [{ ...ok, function: { name: 1 } }], /tool_calls\.0\.function\.name/],
      ['are of another type', [{ ...ok, type: 'custom' }], /tool_calls\.0\.type/],
      [
        'name a function that was not offered',
        [ok, { ...ok, function: { name: 'g' } }],
        /"g".* offered only f/,
      ],
      ['have a list of arguments', [{ ...ok, function: { name: 'f', arguments: [1] } }], /arguments/],
      ['have a number for arguments', [{ ...ok, function: { name: 'f', arguments: 1 } }], /arguments/],
      ['are too many', Array(129).fill(ok), /129 functions at once; at most 128/],
      ['carry what is nested too deep', [{ ...ok, extra_content: nested(17) }], /16 levels/],
      ['carry what is nested far too deep', [{ ...ok, extra_content: nested(50_000) }], /16 levels/],
      ['carry a prototype', [{ ...ok, extra_content: own('__proto__') }], /key __proto__/],
      ['carry a key deep inside', [{ ...ok, extra_content: [{ a: own('constructor') }] }], /key constructor/],
      [
        'have arguments that are nested far too deep',
        [{ ...ok, function: { name: 'f', arguments: { a: nested(50_000) } } }],
        /64 levels/,
      ],
      [
        'have a number in their arguments that would become null',
        [{ ...ok, function: { name: 'f', arguments: { a: ['too large'] } } }],
        /arguments: has a number too large for JSON/,
      ],
      [
        'carry a number that would become null',
        [{ ...ok, extra_content: { a: 'too large' } }],
        /extra_content: has a number too large for JSON/,
      ],
    ] as const)
      it(`are MODEL_OUTPUT_INVALID, asked for and paid once, when they ${name}`, async () => {
        const content = Array.isArray(calls) ? serialize(calls) : JSON.stringify(calls);
        harness.server.will(
          respond(200, `{"choices":[{"message":{"tool_calls":${content}}}],"usage":{"prompt_tokens":10}}`),
        );
        await assert.rejects(call(), fails('MODEL_OUTPUT_INVALID', message));
        assert.deepEqual([harness.server.calls.length, harness.usage.promptTokens], [1, 10]);
      });
  });

  it('makes text of arguments that came as an object', async () => {
    const [, { tool_calls }] = await askedFor([{ id: 'c', function: { name: 'f', arguments: { a: [1] } } }]);
    assert.equal(tool_calls[0].function.arguments, '{"a":[1]}');
  });

  it('gives calls whose ids are not text, or too long, one of their own', async () => {
    const ids = ['x'.repeat(257), 7, {}, []];
    const [, { tool_calls }] = await askedFor(ids.map((id) => ({ id, function: f })));
    for (const { id } of tool_calls) assert.match(id, /^call_[0-9a-f-]{36}$/);
  });

  it('does not pass on what a model asks for that was to choose none', async () => {
    harness.server.will(
      callTools([{ id: 'c', function: f }], 'Hello'),
      callTools([{ id: 'c', function: f }]),
    );
    const reply = await call({ tool_choice: 'none' });
    assert.deepEqual([reply.output, reply.paused], ['Hello', undefined]);
    await assert.rejects(call({ tool_choice: 'none' }), fails('MODEL_OUTPUT_INVALID', /was offered none/));
  });
});
