import assert from 'node:assert/strict';
import type { ToolCallMessage, ToolChoice, ToolDefinition } from '../../../flow/tool-calls.ts';
import { NO_TOKENS } from '../../../platform/models/token-usage.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'f' } }];
const prompt: ToolCallMessage = { role: 'user', content: 'Who was Ada?' };
const f = { name: 'f', arguments: '{"a":1}' };

describe('askModel with tools', () => {
  const harness = useAskModel();
  const call = (more: { tool_choice?: ToolChoice; conversation?: ToolCallMessage[] } = {}) =>
    harness.call({}, undefined, { tools, ...more });
  // biome-ignore lint/suspicious/noExplicitAny: conversations of every shape
  const askedFor = async (calls: unknown[], content?: string | null): Promise<any> => {
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
      ...NO_TOKENS,
      promptTokens: 10,
      completionTokens: 5,
      costMicrocredits: 10 * 15 + 5 * 60,
    });
  });

  it('keeps what the model says beside its calls, an empty text too; nothing said is null', async () => {
    const calls = [{ id: 'c1', type: 'function', function: f }];
    for (const said of ['Let me see', '', null]) assert.equal((await askedFor(calls, said))[1].content, said);
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
    for (const id of ids) assert.match(id, /^(c|[0-9a-f]{9})$/);
    for (const { type } of tool_calls) assert.equal(type, 'function');
  });

  it('makes an empty object of missing, empty and null arguments', async () => {
    const written = [undefined, null, '', '  \n', 'null', '""', '"{}"', {}];
    const calls = written.map((args, index) => ({
      id: `${index}`,
      function: { name: 'f', arguments: args },
    }));
    for (const { function: called } of (await askedFor(calls))[1].tool_calls)
      assert.equal(called.arguments, '{}');
  });

  it('leaves arguments that are the text of an object as they are, and unpacks those written as JSON twice', async () => {
    const written = ['{"a": 1}', ' {"a":1e400}', JSON.stringify('{"a":"\\u0000"}'), '\ufeff{}'];
    const calls = written.map((args, index) => ({
      id: `${index}`,
      function: { name: 'f', arguments: args },
    }));
    const [, { tool_calls }] = await askedFor(calls);
    assert.deepEqual(
      tool_calls.map((each: { function: { arguments: string } }) => each.function.arguments),
      ['{"a": 1}', ' {"a":1e400}', '{"a":"\\u0000"}', '{}'],
    );
  });

  it('takes what is said beside calls for half an answer where no tools were offered', async () => {
    harness.server.will(callTools([{ id: 'c', type: 'function', function: f }], 'Let me'), answer('Hello'));
    assert.deepEqual(
      [(await harness.call()).output, harness.server.calls[0]?.body.tools],
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

  async function sentParameters(fields: object) {
    harness.server.will(answer('ok'));
    const tool: ToolDefinition = { type: 'function', function: { name: 'f', ...fields } };
    await harness.call({}, undefined, { tools: [tool] });
    const sent = harness.server.calls[0]?.body.tools as ToolDefinition[] | undefined;
    return sent?.[0]?.function.parameters;
  }
  const [text, described] = [{ type: 'string' }, { $ref: '#/$defs/t', description: 'x' }];
  const open = { type: 'object', properties: { a: described }, required: ['a'], $defs: { t: text } };
  const closed = { ...open, additionalProperties: false };
  for (const [name, given, sent] of [
    ['none', undefined, undefined],
    ['empty ones as those of no properties', { parameters: {} }, { type: 'object', properties: {} }],
    [
      'nullable and exclusiveMinimum in standard keywords',
      {
        parameters: {
          type: 'object',
          properties: {
            a: { type: 'string', nullable: true },
            b: { type: 'number', minimum: 0, exclusiveMinimum: true },
          },
        },
      },
      {
        type: 'object',
        properties: { a: { type: ['string', 'null'] }, b: { type: 'number', exclusiveMinimum: 0 } },
      },
    ],
    ['a described reference as it is', { parameters: closed }, closed],
    ['what strict mode cannot express as it is', { parameters: open, strict: true }, open],
  ] as const)
    it(`sends, of the parameters of a tool, ${name}`, async () => {
      assert.deepEqual(await sentParameters({ ...given }), sent);
    });

  it('sends no reference with other keywords in a tool that asks for strict mode', async () => {
    const sent = await sentParameters({ parameters: closed, strict: true });
    const { a } = (sent?.properties ?? {}) as { a?: object };
    assert.ok(a && !('$ref' in a && 'description' in a), JSON.stringify(sent));
  });

  it('makes text of arguments that came as an object', async () => {
    const [, { tool_calls }] = await askedFor([{ id: 'c', function: { name: 'f', arguments: { a: [1] } } }]);
    assert.equal(tool_calls[0].function.arguments, '{"a":[1]}');
  });

  it('gives calls whose ids are not text, or too long, one of their own', async () => {
    const ids = ['x'.repeat(257), 7, {}, []];
    const [, { tool_calls }] = await askedFor(ids.map((id) => ({ id, function: f })));
    for (const { id } of tool_calls) assert.match(id, /^[0-9a-f]{9}$/);
  });

  it('does not pass on what a model asks for that was to choose none, and asks it once more', async () => {
    const calls = callTools([{ id: 'c', function: f }]);
    harness.server.will(callTools([{ id: 'c', function: f }], 'Let me'), answer('Hello'), calls, calls);
    const reply = await call({ tool_choice: 'none' });
    assert.deepEqual([reply.output, reply.paused], ['Hello', undefined]);
    await assert.rejects(call({ tool_choice: 'none' }), fails('MODEL_OUTPUT_INVALID', /was offered none/));
  });
});
