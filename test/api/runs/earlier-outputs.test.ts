// Blocks read the outputs of earlier steps by their names (docs/blocks.md, Outputs of earlier steps).
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { code, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { createStepClient, only } from './step-client.ts';
import { asking, type Body, detail, resumeOf, toolCall, useToolCalls } from './tool-calls-harness.ts';

const loop = (step_id: string, body: Step[]): Step => ({
  type: 'loop',
  step_id,
  name: step_id,
  max_iterations: 10,
  body,
});
const plain = { processor_config: { tools_enabled: false } };

describe('outputs of earlier steps', () => {
  const h = useToolCalls();
  const run = async (steps: Step[], body: Body = {}) => {
    const reply = await h.execute(await h.weir.createFlow(h.tenant, steps), { tools: undefined, ...body });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body;
  };
  const prompts = () => h.models.calls.map(({ body }: Body) => body.messages[0].content);

  it('are inserted into prompts, with paths, as they are stored', async () => {
    h.models.will(answer('ok'));
    await run([
      code('extract', 'return { items: [{ name: "Ada" }], text: "{{message}}" };'),
      code('list', 'return "other";'),
      asking(
        'ask',
        '{{steps.extract.items.0.name}} {{steps.extract.text}} {{steps.list}} {{steps.extract}}',
        plain,
      ),
    ]);
    assert.deepEqual(prompts(), ['Ada {{message}} other {"items":[{"name":"Ada"}],"text":"{{message}}"}']);
  });

  it('are in the outputs of code, of loops and parallel steps too, in every iteration', async () => {
    const { result } = await run([
      code('list', 'return [1, 2];'),
      {
        type: 'parallel',
        step_id: 'both',
        name: 'both',
        branches: { a: [code('x', 'return 7;')], b: [code('y', 'return "y".repeat(10_000);')] },
      },
      code('again', 'return outputs.list;'),
      loop('each', [
        code('double', 'return input * 2;'),
        code('sum', 'return [outputs.double, outputs.both.a, typeof outputs.each];'),
      ]),
      code(
        'end',
        'const { list, each } = outputs; return { list, each, long: outputs.both.b.length, all: Object.keys(outputs) };',
      ),
    ]);
    const each = [
      [2, 7, 'undefined'],
      [4, 7, 'undefined'],
    ];
    assert.deepEqual(result, { list: [1, 2], each, long: 10_000, all: ['list', 'both', 'again', 'each'] });
  });

  it('leave a variable of the code alone that has the same name', async () => {
    const { result } = await run([
      code('a', 'return 1;'),
      code('own', 'const outputs = []; outputs.push(2); return outputs;'),
      code('assigned', 'outputs = [3]; return outputs.concat(typeof globalThis.outputs);'),
      code('fresh', 'return outputs.a;'),
    ]);
    assert.equal(result, 1);
  });

  it('fail a block that would read too much of them, before they are read', async () => {
    const large = `return "x".repeat(${Math.floor(OUTPUT_MAX_BYTES / 1.2)});`;
    const body = await run([
      code('a', large),
      code('b', large),
      code('c', large),
      code('few', 'return outputs.a.length;'),
      code('many', 'return Object.keys(outputs);'),
    ]);
    assert.equal(body.status, 'failed');
    assert.deepEqual([body.code, body.step_id], ['OUTPUT_TOO_LARGE', 'many']);
    assert.match(body.errorMessage, /name the steps that it reads, as in outputs\.extract/);
  });

  it('are seen by a run that resumes, as its caller sends them back', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      code('a', 'return { n: 1 };'),
      passthrough('b'),
      asking('ask', '{{steps.a.n}}'),
      asking('say', '{{steps.a.n}} {{steps.ask}}', plain),
      code('end', 'return [outputs.a.n, outputs.ask, outputs.say];'),
    ]);
    h.models.will(callTools([toolCall('c')]), answer('asked'), answer('said'));
    const paused = (await h.execute(flow)).body;
    const { accumulatedOutputs, ...resume } = resumeOf(paused);
    const { b } = accumulatedOutputs;
    const { errors } = detail(
      await h.execute(flow, { ...resume, accumulatedOutputs: { b } }),
      422,
      'VALIDATION_ERROR',
    );
    assert.equal(errors[0].field, 'accumulatedOutputs.a');
    const { body } = await h.execute(flow, { ...resume, accumulatedOutputs });
    assert.deepEqual(body.result, [1, 'asked', 'said']);
    assert.deepEqual(prompts(), ['1', '1', '1 asked']);
  });

  it('are seen by /step as the client changed them, and by a fork as they were', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      code('a', 'return 1;'),
      passthrough('b'),
      code('c', 'return outputs.a;'),
      code('end', 'return [outputs.a, outputs.c];'),
    ]);
    const client = await createStepClient(h.weir, h.tenant);
    const opened = await client.step(flow, { executionId: null, stepIndex: 0, message: 'm' });
    const { executionId } = only(opened, 'run_started');
    const rest = { executionId, stepIndex: 2, runRemaining: true };
    const edited = await client.step(flow, { ...rest, accumulatedOutputs: { a: 5, b: 1 } });
    assert.deepEqual(only(edited, 'run_completed').result, [5, 5]);
    const replaced = { accumulatedOutputs: { a: 5, b: 1 }, inputOverrides: { a: 6 } };
    const overridden = await client.step(flow, { ...rest, ...replaced });
    assert.deepEqual(only(overridden, 'run_completed').result, [6, 6]);
    const refused = await client.open(flow, { ...rest, accumulatedOutputs: { b: 1 } });
    assert.equal(refused.status, 422);
    assert.match(JSON.stringify(await refused.json()), /accumulatedOutputs\.a/);

    const whole = await run([code('a', 'return 1;'), code('end', 'return outputs.a + 1;')]);
    assert.equal(whole.result, 2);
    const source = (await h.execute(flow, { tools: undefined })).body;
    const fork = await h.weir.call('GET', `${flow}/jobs/${source.executionId}/fork?step=3`, {
      key: h.tenant.key,
    });
    const forked = await client.step(`${flow}/v${fork.body.version}`, { ...fork.body, runRemaining: true });
    assert.deepEqual(only(forked, 'run_completed').result, source.result);
  });
});
