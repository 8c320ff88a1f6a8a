// The names of members that every JavaScript object inherits are keys like any other.
import assert from 'node:assert/strict';
import type { Json, Step } from '../../../flow/definition.ts';
import { code, llm } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

const NAMES = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'].filter(
  (name) => name !== '__proto__',
);
const valuesOf = <T>(value: (name: string) => T) =>
  Object.fromEntries(NAMES.map((name) => [name, value(name)]));
const OBJECT = valuesOf((name) => `the ${name}`);
const SCHEMA = {
  type: 'object',
  properties: valuesOf(() => ({ type: 'string' })),
  required: NAMES,
  additionalProperties: false,
};

describe('keys that every object inherits', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  beforeEach(() => weir.models.reset());
  after(() => weir.stop());

  const execute = async (flow: string, body: object) =>
    (await weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body: { message: 'm', ...body } }))
      .body;
  const run = async (steps: Step[], body: object = {}) =>
    execute(await weir.createFlow(weir.tenant, steps), body);
  const prompts = () =>
    weir.models.calls.map(({ body }) => (body.messages as { content: Json }[]).at(-1)?.content);

  it('reach a block in parameters and leave it in its output, at every depth', async () => {
    const parameters = valuesOf((name) => ({ [name]: [OBJECT] }));
    const { result } = await run([code('same', 'return parameters;')], { parameters });
    assert.deepEqual(result, parameters);
  });

  it('are inserted by templates, and only where they are there', async () => {
    const variables = NAMES.map((name) => `{{parameters.${name}}} {{parameters.own.${name}}}`).join();
    weir.models.will(answer('one'), answer('two'));
    await run([llm('ask', variables, 'demo/chat')], { parameters: { ...OBJECT, own: {} } });
    await run([llm('ask', variables, 'demo/chat')], { parameters: { own: OBJECT } });
    assert.deepEqual(prompts(), [
      NAMES.map((name) => `the ${name} `).join(),
      NAMES.map((name) => ` the ${name}`).join(),
    ]);
  });

  it('name steps and branches, whose outputs later blocks read', async () => {
    const both: Step = {
      ...{ type: 'parallel', step_id: 'both', name: 'both' },
      branches: valuesOf((name) => [code(`in-${name.length}-${name}`, `return ${JSON.stringify(name)};`)]),
    };
    const steps = NAMES.map((name) => code(name, `return ${JSON.stringify(name)};`));
    const variables = NAMES.map((name) => `{{steps.${name}}}`).join();
    weir.models.will(answer('done'));
    const last = code('last', `return [outputs.both, ${NAMES.map((name) => `outputs.${name}`).join()}];`);
    const { result } = await run([both, ...steps, llm('ask', variables, 'demo/chat'), last]);
    assert.deepEqual(prompts(), [NAMES.join()]);
    assert.deepEqual(result, [valuesOf((name) => name), ...NAMES]);
  });

  it('are properties of schemas, which find them missing', async () => {
    const make = (text: string, more: object) => code('make', `return ${text};`, more);
    const given = { inputSchema: { type: 'array', items: SCHEMA }, outputSchema: SCHEMA };
    const list = code('list', `return [${JSON.stringify(OBJECT)}];`);
    assert.deepEqual((await run([list, make('input[0]', given)])).result, OBJECT);
    const absent = await run([make('{}', { outputSchema: SCHEMA })]);
    assert.equal(absent.errorCode ?? absent.code, 'OUTPUT_SCHEMA_MISMATCH');
    assert.match(absent.errorMessage, /constructor/);
  });

  it('are properties of a structured answer', async () => {
    weir.models.will(answer(JSON.stringify(OBJECT)));
    const { result } = await run([llm('ask', 'x', 'demo/chat', { outputSchema: SCHEMA })]);
    assert.deepEqual(result, OBJECT);
  });

  it('are parameters and arguments of tools, and stay in the state of a pause', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }];
    const steps = [
      code('first', `return ${JSON.stringify(OBJECT)};`),
      llm('ask', 'x', 'demo/chat', { processor_config: { tools_enabled: true } }),
    ];
    const flow = await weir.createFlow(weir.tenant, steps);
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'look', arguments: JSON.stringify(OBJECT) },
    };
    weir.models.will(callTools([call]), answer('done'));
    const paused = await execute(flow, { tools });
    assert.deepEqual(JSON.parse(paused.toolCalls[0].function.arguments), OBJECT);
    const { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs } = paused;
    const toolCallMessages = [
      ...paused.toolCallMessages,
      { role: 'tool', tool_call_id: 'c1', content: JSON.stringify(OBJECT) },
    ];
    const resume = { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, toolCallMessages, tools };
    assert.equal((await execute(flow, resume)).result, 'done');
    const sent = weir.models.calls.at(0)?.body.tools as { function: { parameters: object } }[];
    assert.deepEqual(sent[0]?.function.parameters, SCHEMA);
  });

  it('are refused only as __proto__, and as constructor with a prototype', async () => {
    const flow = await weir.createFlow(weir.tenant, [code('same', 'return parameters;')]);
    const send = async (member: string) => {
      const raw = `{"message": "", "parameters": {"deep": [{${member}}]}}`;
      const headers = { 'content-type': 'application/json' };
      const { status, body } = await weir.call('POST', `${flow}/execute`, {
        key: weir.tenant.key,
        raw,
        headers,
      });
      return [status, body.detail?.errors?.[0].field];
    };
    assert.deepEqual(await send('"__proto__": 1'), [422, 'parameters.deep.0.__proto__']);
    assert.deepEqual(await send('"constructor": {"prototype": {}}'), [422, 'parameters.deep.0.constructor']);
    assert.deepEqual(await send('"constructor": {"name": "x"}, "prototype": {}'), [200, undefined]);
  });

  it('keep the outputs that a pause hands out sendable, whatever they hold', async () => {
    const steps = [
      code('constructor', 'return { prototype: { constructor: { name: 1 } } };'),
      code('last', 'return input;'),
    ];
    const flow = await weir.createFlow(weir.tenant, steps);
    const { key } = weir.tenant;
    const first = { executionId: null, stepIndex: 0, message: 'm' };
    const step = async (body: object) => {
      const response = await fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
    const started = await step(first);
    const executionId = /"executionId":"([^"]+)"/.exec(started.text)?.[1];
    const accumulatedOutputs = { constructor: { prototype: { constructor: { name: 1 } } } };
    const next = await step({ executionId, stepIndex: 1, accumulatedOutputs });
    assert.equal(next.status, 200, next.text);
    assert.match(next.text, /"result":\{"prototype":\{"constructor":\{"name":1\}\}\}/);
    for (const key of ['__proto__', 'constructor']) {
      const refused = JSON.parse(`{"constructor": {"deep": [{"${key}": {"prototype": 1}}]}}`);
      const { status, text } = await step({ executionId, stepIndex: 1, accumulatedOutputs: refused });
      assert.equal(status, 422, text);
      assert.match(text, new RegExp(`accumulatedOutputs\\.constructor\\.deep\\.0\\.${key}`));
    }
  });
});
