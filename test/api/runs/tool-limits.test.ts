import assert from 'node:assert/strict';
import { BODY_MAX_BYTES } from '../../../api/http/receive-body.ts';
import {
  OUTPUT_MAX_BYTES,
  TOOL_DESCRIPTION_MAX_LENGTH,
  TOOL_MESSAGES_MAX_BYTES,
  TOOL_PARAMETERS_MAX_BYTES,
  TOOL_RESULT_MAX_BYTES,
  TOOLS_MAX,
  TOOLS_MAX_BYTES,
} from '../../../flow/limits.ts';
import { mostOf } from '../../../platform/json-text/measure-json.ts';
import { code, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { fanOut } from '../../platform/json-schema/multiplying-schemas.ts';
import { readEvents } from '../../sse.ts';
import { createStepClient, only } from './step-client.ts';
import { asking, type Body, resumeOf, toolCall, useToolCalls, weather } from './tool-calls-harness.ts';

/** Names of steps, ids, the receipt and `resumeState`. */
const REST_BYTES = 128 * 1024;

const named = (name: unknown): Body => ({ type: 'function', function: { name } });
const withField = (fields: Body): Body => ({ type: 'function', function: { name: 'f', ...fields } });
/** A JSON Schema of exactly so many bytes of JSON. */
const schemaOf = (bytes: number, character = 'x') => {
  const schema = { type: 'object', properties: {}, title: '' };
  const room = bytes - Buffer.byteLength(JSON.stringify(schema));
  return { ...schema, title: character.repeat(room / Buffer.byteLength(character)) };
};

describe('tools of a request', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
  });

  async function refuse(body: Body, code: string): Promise<Body> {
    const refused = await h.execute(flow, body);
    assert.deepEqual([refused.status, refused.body.detail?.code], [400, code], JSON.stringify(refused.body));
    const { message, errors } = refused.body.detail;
    assert.doesNotMatch(message, /undefined|\[object/);
    assert.equal(h.models.calls.length, 0);
    return { message, fields: errors?.map(({ field }: Body) => field) };
  }
  /** Asserts that a request is accepted; returns the body that its model got. */
  async function accept(body: Body): Promise<Body> {
    h.models.will(answer('ok'));
    const { status, body: answered } = await h.execute(flow, body);
    assert.deepEqual([status, answered.result], [200, 'ok'], JSON.stringify(answered).slice(0, 500));
    return h.models.calls[0]?.body;
  }

  const atTheLimit: [string, Body[]][] = [
    [`${TOOLS_MAX} tools`, Array.from({ length: TOOLS_MAX }, (_, index) => named(`f${index}`))],
    ['a name of 64 characters', [named(`_${'a-B9_'.repeat(12)}abc`)]],
    ['a name of one character', [named('f')]],
    ['names that differ in case', [named('f'), named('F')]],
    [
      `a description of ${TOOL_DESCRIPTION_MAX_LENGTH} characters of two UTF-16 units each`,
      [withField({ description: '😀'.repeat(TOOL_DESCRIPTION_MAX_LENGTH) })],
    ],
    [
      `parameters of ${TOOL_PARAMETERS_MAX_BYTES} bytes`,
      [withField({ parameters: schemaOf(TOOL_PARAMETERS_MAX_BYTES) })],
    ],
    ['strict', [withField({ strict: true }), { type: 'function', function: { name: 'g', strict: null } }]],
    ['a NUL and half a surrogate pair in a description', [withField({ description: '\0 \ud800' })]],
  ];
  for (const [rule, tools] of atTheLimit)
    it(`reach the model unchanged: ${rule}`, async () => {
      assert.deepEqual((await accept({ tools })).tools, tools);
    });

  const invalid: [string, unknown, string][] = [
    [
      `${TOOLS_MAX + 1} of them`,
      Array.from({ length: TOOLS_MAX + 1 }, (_, index) => named(`f${index}`)),
      'tools',
    ],
    ['a name twice', [named('f'), named('g'), named('f')], 'tools.2.function.name'],
    [
      `a description of ${TOOL_DESCRIPTION_MAX_LENGTH + 1} characters`,
      [withField({ description: 'x'.repeat(TOOL_DESCRIPTION_MAX_LENGTH + 1) })],
      'tools.0.function.description',
    ],
    [
      `parameters of ${TOOL_PARAMETERS_MAX_BYTES + 1} bytes`,
      [withField({ parameters: schemaOf(TOOL_PARAMETERS_MAX_BYTES + 1) })],
      'tools.0.function.parameters',
    ],
    [
      'parameters of fewer characters than bytes',
      [withField({ parameters: schemaOf(TOOL_PARAMETERS_MAX_BYTES + 2, 'é') })],
      'tools.0.function.parameters',
    ],
    ['an object', { 0: weather }, 'tools'],
    ['a text', 'get_weather', 'tools'],
    [
      `more than ${TOOLS_MAX_BYTES} bytes`,
      Array.from({ length: TOOLS_MAX }, (_, index) => ({
        type: 'function',
        function: {
          name: `f${index}`,
          description: '\0'.repeat(TOOL_DESCRIPTION_MAX_LENGTH),
          parameters: schemaOf(TOOL_PARAMETERS_MAX_BYTES),
        },
      })),
      'tools',
    ],
    ['null in it', [null], 'tools.0'],
    ['a number in it', [7], 'tools.0'],
    ['a list in it', [[weather]], 'tools.0'],
    ['no type', [{ function: weather.function }], 'tools.0.type'],
    ['another type', [{ ...weather, type: 'retrieval' }], 'tools.0.type'],
    ['no function', [{ type: 'function' }], 'tools.0.function'],
    ['a function that is null', [{ type: 'function', function: null }], 'tools.0.function'],
    ['no name', [{ type: 'function', function: {} }], 'tools.0.function.name'],
    ['a name that is a number', [named(1)], 'tools.0.function.name'],
    ['a description that is a list', [withField({ description: [] })], 'tools.0.function.description'],
    ['parameters that are text', [withField({ parameters: '{}' })], 'tools.0.function.parameters'],
    ['parameters that are a list', [withField({ parameters: [] })], 'tools.0.function.parameters'],
    ['an unknown field', [{ ...weather, extra: 1 }], 'tools.0.extra'],
  ];
  for (const [rule, tools, field] of invalid)
    it(`TOOLS_INVALID: 400 that names the field for ${rule}`, async () => {
      assert.deepEqual((await refuse({ tools }, 'TOOLS_INVALID')).fields, [field]);
    });

  const noSchemas: [string, Body, string, RegExp][] = [
    ['an unknown type', { properties: { city: { type: 'text' } } }, '/properties/city/type', /write string/],
    ['properties that are a list', { type: 'object', properties: ['city'] }, '/properties', /object/],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/a' } } }, '/properties/a/$ref', /nothing/],
    ['a reference to elsewhere', { $ref: 'https://example.com/a' }, '/$ref', /inside the schema/],
    ['references that multiply', fanOut(40) as Body, '', /steps/],
  ];
  for (const [rule, parameters, path, message] of noSchemas)
    it(`TOOLS_INVALID: 400 that names the tool and the place for parameters with ${rule}`, async () => {
      const tools = [weather, { type: 'function', function: { name: 'look', parameters } }];
      for (const url of [flow, `${flow}/v1`]) {
        const { status, body } = await h.execute(url, { tools });
        const { code, tool, path: place, message: text, errors } = body.detail;
        assert.deepEqual([status, code, tool, place], [400, 'TOOLS_INVALID', 'look', path]);
        assert.match(text, /parameters of look: .* cannot be used/);
        assert.match(text, message);
        assert.deepEqual(
          errors.map(({ field }: Body) => field),
          ['tools.1.function.parameters'],
        );
      }
      assert.equal(h.models.calls.length, 0);
    });

  for (const name of ['', '1a', '-a', 'a b', 'a.b', 'é', 'a\n', 'a\0', 'a'.repeat(65)])
    it(`TOOL_NAME_INVALID: 400 for the name ${JSON.stringify(name).slice(0, 20)}`, async () => {
      const { fields } = await refuse({ tools: [weather, named(name)] }, 'TOOL_NAME_INVALID');
      assert.deepEqual(fields, ['tools.1.function.name']);
    });

  const choices: unknown[] = [
    'any',
    7,
    [],
    {},
    { type: 'function' },
    { type: 'function', function: 'get_weather' },
    { type: 'function', function: { name: 1 } },
  ];
  for (const toolChoice of choices)
    it(`TOOLS_INVALID: 400 for toolChoice ${JSON.stringify(toolChoice)}, saying what it may be`, async () => {
      const { message, fields } = await refuse({ toolChoice }, 'TOOLS_INVALID');
      assert.match(message, /auto.*none.*required/);
      assert.deepEqual(fields, ['toolChoice']);
    });

  it('TOOLS_INVALID: 400 for a toolChoice that no tool of the request can follow', async () => {
    const other = { type: 'function', function: { name: 'other' } };
    assert.match((await refuse({ toolChoice: other }, 'TOOLS_INVALID')).message, /other/);
    const { fields } = await refuse({ toolChoice: { ...other, extra: 1 } }, 'TOOLS_INVALID');
    assert.deepEqual(fields, ['toolChoice.extra']);
    await refuse({ toolChoice: other, tools: undefined }, 'TOOLS_INVALID');
    await refuse({ toolChoice: 'required', tools: [] }, 'TOOLS_INVALID');
    assert.equal((await accept({ toolChoice: 'auto', tools: [] })).tool_choice, undefined);
  });

  it(`TOOLS_INVALID: 400 for a result of more than ${TOOL_RESULT_MAX_BYTES} bytes; as many reach the model`, async () => {
    h.models.will(callTools([toolCall('a')]));
    const paused = await h.pause(flow);
    h.models.calls.splice(0);
    const resume = (content: string) => resumeOf(paused, [{ role: 'tool', tool_call_id: 'a', content }]);
    for (const content of ['x'.repeat(TOOL_RESULT_MAX_BYTES + 1), 'é'.repeat(TOOL_RESULT_MAX_BYTES / 2 + 1)])
      assert.deepEqual((await refuse(resume(content), 'TOOLS_INVALID')).fields, [
        'toolCallMessages.2.content',
      ]);
    const content = 'é'.repeat(TOOL_RESULT_MAX_BYTES / 2);
    assert.equal((await accept(resume(content))).messages[2].content, content);
  });
});

describe('the outputs that a pause hands out', () => {
  const h = useToolCalls();
  const makes = (stepId: string, bytes: number) => code(stepId, `return "x".repeat(${bytes});`);
  const largest = OUTPUT_MAX_BYTES * 0.6;

  it('fit into the next resume: those that a resume brought count towards its next pause', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      makes('a', largest),
      asking('ask', 'x'),
      makes('b', largest),
      asking('other', 'x'),
    ]);
    h.models.will(callTools([toolCall('c1')]), answer('ok'), callTools([toolCall('c2')]));
    const { status, body } = await h.execute(flow, resumeOf(await h.pause(flow)));
    assert.deepEqual([status, body.status], [200, 'failed']);
    assert.match(
      body.errorMessage,
      /other waits .* outputs of the steps before it, which a resume sends back/,
    );
  });

  for (const [escaped, character] of [
    ['no character', 'x'],
    ['each character', '\u0001'],
  ] as const)
    it(`fit into a resume that sends the largest pause back whole, with the largest tools: JSON that escapes ${escaped}`, async () => {
      const bytesOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json));
      const width = bytesOf(character) - 2;
      const output = `return ${JSON.stringify(character)}.repeat(${Math.floor((OUTPUT_MAX_BYTES / 2 - 2) / width)});`;
      const flow = await h.weir.createFlow(h.tenant, [
        code('a', output),
        code('b', output),
        asking('ask', 'x'),
      ]);
      const description = character.repeat(TOOL_DESCRIPTION_MAX_LENGTH);
      const tools = Array.from({ length: TOOLS_MAX }, (_, index) => ({
        type: 'function',
        function: { name: `f${index}`, description, parameters: schemaOf(TOOL_PARAMETERS_MAX_BYTES) },
      }));
      while (bytesOf(tools) > TOOLS_MAX_BYTES) tools.pop();
      // The text of a call is JSON in JSON.
      const inner = bytesOf(JSON.stringify(character)) - '"\\"\\""'.length;
      const args = JSON.stringify({ text: character.repeat((TOOL_MESSAGES_MAX_BYTES - 1_000) / inner) });
      h.models.will(callTools([toolCall('c1', args, 'f0')]), answer('ok'));
      const paused = await h.pause(flow, { tools });
      const result = { role: 'tool', tool_call_id: 'c1', content: '1' };
      const toolCallMessages = [...paused.toolCallMessages, result];
      const resume = { ...paused, toolCallMessages, tools };
      assert(bytesOf(paused.accumulatedOutputs) > OUTPUT_MAX_BYTES - 50);
      assert(bytesOf(toolCallMessages) > TOOL_MESSAGES_MAX_BYTES * 0.9);
      assert(bytesOf(tools) > TOOLS_MAX_BYTES * 0.7);
      const { status, body } = await h.execute(flow, resume);
      assert.deepEqual([status, body.result], [200, 'ok'], JSON.stringify(body).slice(0, 500));
    });

  it('have room beside the largest of all else that a resume brings, in bytes and in values', () => {
    const messages = TOOL_MESSAGES_MAX_BYTES;
    // The last calls are in the conversation and in `toolCalls`.
    const parts = [OUTPUT_MAX_BYTES, messages, messages, TOOLS_MAX_BYTES];
    const sum = (sizes: number[]) => sizes.reduce((all, size) => all + size, 0);
    assert(sum(parts) + REST_BYTES <= BODY_MAX_BYTES);
    assert(sum(parts.map((bytes) => mostOf(bytes).values)) < mostOf(BODY_MAX_BYTES).values);
  });

  it('of a step count what its request brought', async () => {
    const flow = await h.weir.createFlow(h.tenant, [passthrough('a'), asking('ask', 'x')]);
    h.models.will(callTools([toolCall('c1')]), callTools([toolCall('c2')]));
    const step = async (bytes: number) => {
      const response = await fetch(`${h.weir.url}/api/v1/seq/${flow}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${h.tenant.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          executionId: null,
          message: 'm',
          stepIndex: 1,
          accumulatedOutputs: { a: 'x'.repeat(bytes) },
          tools: [weather],
        }),
      });
      const events: Body[] = [];
      for await (const event of readEvents(response)) events.push(event);
      return events.at(-1);
    };
    const refused = await step(OUTPUT_MAX_BYTES);
    assert.deepEqual([refused.event, refused.data.code], ['run_failed', 'OUTPUT_TOO_LARGE']);
    const paused = await step(OUTPUT_MAX_BYTES - 100);
    assert.equal(paused.event, 'step_paused_for_tool_calls');
  });

  it('of a step do not count, nor hand out, outputs of blocks inside steps, which its client sent along', async () => {
    const branches = { left: [passthrough('l')], right: [passthrough('r')] };
    const both = { type: 'parallel' as const, step_id: 'both', name: 'both', branches };
    const flow = await h.weir.createFlow(h.tenant, [both, asking('ask', 'x')]);
    h.models.will(callTools([toolCall('c1')]), answer('ok'));
    const client = await createStepClient(h.weir, h.tenant);
    const output = { left: 'x'.repeat(largest / 2), right: 'x'.repeat(largest / 2) };
    const merged = { both: output, l: output.left, r: output.right };
    const call = { stepIndex: 1, accumulatedOutputs: merged, tools: [weather] };
    const events = await client.step(flow, { ...call, executionId: null });
    const { executionId, accumulatedOutputs, resumeState, toolCallMessages } = only(
      events,
      'step_paused_for_tool_calls',
    );
    assert.deepEqual(accumulatedOutputs, { both: output });
    const result = { role: 'tool', tool_call_id: 'c1', content: '1' };
    const resume = { executionId, resumeState, toolCallMessages: [...toolCallMessages, result] };
    const last = await client.step(flow, { ...call, ...resume });
    assert.equal(only(last, 'run_completed').result, 'ok');
    assert.deepEqual(await client.step(flow, { ...call, ...resume }), last);
  });
});
