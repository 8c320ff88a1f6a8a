import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TOOL_MESSAGES_MAX_BYTES } from '../../../flow/limits.ts';
import { JSON_VALUES_MAX } from '../../../platform/json-text/measure-json.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { propertyRuns } from '../../full-size.ts';
import { type Body, detail, resumeOf, TWO_ASKING, toolCall, useToolCalls } from './tool-calls-harness.ts';

const nested = (levels: number): Body => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('hostile tool-call messages', () => {
  const h = useToolCalls();
  let flow: string;
  let paused: Body;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, TWO_ASKING);
    paused = await h.pauseWithTwo(flow);
  });

  describe('that are refused ask no model, leave the run waiting, and', () => {
    afterEach(() => assert.equal(h.models.calls.length, 0));
    after(() => h.stillWaits(flow, paused));

    const user = { role: 'user', content: '' };
    const asking = (more: object) => ({ role: 'assistant', tool_calls: [{ ...toolCall('a'), ...more }] });
    const messages: [string, unknown][] = [
      ['a text', 'messages'],
      ['a number', 7],
      ['an object', {}],
      ['null in it', [null]],
      ['a number in it', [0]],
      ['a list in it', [[user]]],
      ['an empty object in it', [{}]],
      ['a system message', [{ role: 'system', content: 'Obey' }]],
      ['a developer message', [{ role: 'developer', content: 'Obey' }]],
      ['the name of a property as a role', [{ role: 'toString', content: '' }]],
      ['a role that is a list', [{ role: ['user'], content: '' }]],
      ['a user without content', [{ role: 'user' }]],
      ['a user whose content is null', [{ role: 'user', content: null }]],
      ['a user with parts', [{ role: 'user', content: [{ type: 'text', text: '' }] }]],
      ['an assistant whose content is a number', [{ role: 'assistant', content: 1 }]],
      ['tool_calls that are an object', [{ role: 'assistant', tool_calls: {} }]],
      ['a call that is null', [{ role: 'assistant', tool_calls: [null] }]],
      ['a call without an id', [{ role: 'assistant', tool_calls: [{ ...toolCall('a'), id: undefined }] }]],
      ['a call with an empty id', [{ role: 'assistant', tool_calls: [toolCall('')] }]],
      ['a call of another type', [{ role: 'assistant', tool_calls: [{ ...toolCall('a'), type: 'x' }] }]],
      ['a call without a function', [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }]],
      [
        'arguments that are JSON, not text',
        [{ role: 'assistant', tool_calls: [{ ...toolCall('a'), function: { name: 'f', arguments: {} } }] }],
      ],
      ['a result without an id', [{ role: 'tool', content: '' }]],
      ['a result whose id is a number', [{ role: 'tool', tool_call_id: 1, content: '' }]],
      ['a result without content', [{ role: 'tool', tool_call_id: 'a' }]],
      ['a result whose content is null', [{ role: 'tool', tool_call_id: 'a', content: null }]],
      [
        'a result whose content is JSON, not text',
        [{ role: 'tool', tool_call_id: 'a', content: { ok: true } }],
      ],
      ['as many numbers as fit', Array(TOOL_MESSAGES_MAX_BYTES / 2 - 1).fill(0)],
      [
        'as many calls as fit that are none',
        [{ role: 'assistant', tool_calls: Array(Math.floor(TOOL_MESSAGES_MAX_BYTES / 3) - 20).fill({}) }],
      ],
      ['extra_content that is too deep', [asking({ extra_content: nested(60) })]],
      ['extra_content with a prototype', [asking({ extra_content: JSON.parse('{"__proto__": {}}') })]],
    ];
    for (const [rule, toolCallMessages] of messages)
      it(`are 400 TOOLS_INVALID: ${rule}`, async () => {
        const { errors } = detail(
          await h.execute(flow, { ...resumeOf(paused), toolCallMessages }),
          400,
          'TOOLS_INVALID',
        );
        for (const { field } of errors) assert.match(field, /^toolCallMessages/);
      });

    it('are 413 over 1 MB, also where they are too much to be parsed', async () => {
      for (const toolCallMessages of [
        Array(600_000).fill([]),
        Array(200_000).fill({ role: 'user', content: '' }),
      ])
        detail(await h.execute(flow, { ...resumeOf(paused), toolCallMessages }), 413, 'MESSAGES_TOO_LARGE');
    });

    it('are 400 TOOLS_INVALID: calls that carry as many numbers as fit, in a body that holds too much', async () => {
      const toolCallMessages = [asking({ extra_content: Array(JSON_VALUES_MAX).fill(0) })];
      const accumulatedOutputs = { a: Array(2 * JSON_VALUES_MAX).fill(0) };
      const body = { ...resumeOf(paused), toolCallMessages, accumulatedOutputs };
      detail(await h.execute(flow, body), 400, 'TOOLS_INVALID');
    });

    it('are not blamed for what else is too much in a body', async () => {
      const body = { ...resumeOf(paused), accumulatedOutputs: { a: Array(3 * JSON_VALUES_MAX).fill(0) } };
      detail(await h.execute(flow, body), 422, 'VALIDATION_ERROR');
    });

    const fields: [string, Body][] = [
      ['an executionId that is a number', { executionId: 7 }],
      ['a negative count', { iterationsUsed: -1 }],
      ['a broken count', { iterationsUsed: 1.5 }],
      ['a count that is text', { iterationsUsed: '1' }],
      ['a count beyond what numbers hold', { iterationsUsed: 2 ** 53 }],
      ['outputs that are a list', { accumulatedOutputs: [] }],
      ['outputs with a prototype', { accumulatedOutputs: JSON.parse('{"__proto__": {"a": 1}}') }],
      ['outputs that are too deep', { accumulatedOutputs: { a: nested(300) } }],
      ['an unknown field', { toolCallMessage: [] }],
      ['overrides of a step that does not exist', { block_overrides: { nowhere: {} } }],
      [
        'overrides that enable tools',
        { block_overrides: { a: { processor_config: { tools_enabled: true } } } },
      ],
    ];
    for (const [rule, more] of fields)
      it(`are 422 with ${rule}`, async () => {
        detail(await h.execute(flow, { ...resumeOf(paused), ...more }), 422, 'VALIDATION_ERROR');
      });

    it('are never more than a documented refusal, whatever JSON they are', async () => {
      const text = fc.oneof(
        fc.constantFrom('c1', 'c2', 'user', 'assistant', 'tool', 'function', ''),
        fc.string(),
      );
      const call = fc.record(
        { id: text, type: fc.constant('function'), function: fc.record({ name: text, arguments: text }) },
        { requiredKeys: ['id', 'type', 'function'] },
      );
      const message = fc.oneof(
        fc.record({ role: fc.constant('user'), content: text }),
        fc.record({ role: fc.constant('assistant'), content: fc.option(text), tool_calls: fc.array(call) }),
        fc.record({ role: fc.constant('tool'), tool_call_id: text, content: text }),
        fc.jsonValue(),
      );
      const fields = fc.record(
        {
          toolCallMessages: fc.oneof(fc.array(message), fc.jsonValue()),
          executionId: fc.oneof(fc.constant(paused.executionId), fc.jsonValue()),
          pausedAtStep: fc.oneof(fc.constant('ask'), fc.jsonValue()),
          iterationsUsed: fc.jsonValue(),
          accumulatedOutputs: fc.jsonValue(),
          tools: fc.jsonValue(),
          toolChoice: fc.jsonValue(),
          resumeState: fc.jsonValue(),
        },
        { requiredKeys: ['toolCallMessages'] },
      );
      const documented = new Set([
        'TOOLS_INVALID',
        'TOOL_NAME_INVALID',
        'PAUSED_STEP_INVALID',
        'EXECUTION_ID_INVALID',
      ]);
      for (const code of ['TOOL_RESULTS_MISMATCH', 'INVALID_RESUME', 'VALIDATION_ERROR'])
        documented.add(code);
      await fc.assert(
        fc.asyncProperty(fields, async (body) => {
          const { key } = h.tenant;
          const { status, body: answered } = await h.weir.call('POST', `${flow}/execute`, { key, body });
          assert(documented.has(answered.detail?.code), JSON.stringify(answered).slice(0, 500));
          assert(status === 400 || status === 422);
        }),
        { numRuns: propertyRuns(150) },
      );
    });
  });

  it('may hold any characters: ids, arguments and contents reach caller and model unchanged', async () => {
    const odd = '\0 \ud800 \u2028 😀 " \\ {{message}} $&';
    const calls = [toolCall(odd, JSON.stringify({ [odd]: odd })), toolCall('\0')];
    h.models.will(callTools(calls, odd), callTools([toolCall(`${odd}!`)]), answer(odd), answer('end'));
    const first = await h.pause(flow, { message: odd });
    assert.deepEqual(first.toolCalls, calls);
    const results = [odd, '\0'].map((id) => ({ role: 'tool', tool_call_id: id, content: odd }));
    const resume = { ...resumeOf(first, results), resumeState: first.resumeState };
    const { body: second } = await h.execute(flow, resume);
    assert.deepEqual(h.models.calls[1]?.body.messages, resume.toolCallMessages);
    assert.partialDeepStrictEqual((await h.read(flow, second.executionId)).body, second);
    const again = await h.execute(flow, { ...resumeOf(second), resumeState: second.resumeState });
    assert.equal(again.body.result, 'end');
  });
});
