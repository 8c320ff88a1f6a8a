import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

const HOST = 'images.example';
const add = (stepId: string) => code(stepId, `return input + ${JSON.stringify(stepId)};`);
const echo = (stepId: string) => code(stepId, 'return { message, parameters, input };');

describe('POST …/step: what a step gets', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  let client: StepClient;
  before(async () => {
    models = await startFakeModelServer();
    const WEIR_TEST_DIAL_MAP = JSON.stringify({ [HOST]: '127.0.0.1:9' });
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl, WEIR_TEST_DIAL_MAP } });
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const createFlow = (...steps: Step[]) => weir.createFlow(tenant, steps);
  /** The prompt and model of the last call. */
  function asked(): [string | undefined, string] {
    const call = models.calls.at(-1);
    assert(call);
    const { messages, model } = call.body as { messages: { content: string }[]; model: string };
    return [messages[0]?.content, model];
  }
  /** A session after its first step. */
  async function begin(flow: string, body: object = {}) {
    const events = await client.step(flow, { stepIndex: 0, message: 'm', ...body });
    return { events, executionId: only(events, 'run_started').executionId as string };
  }

  it('is the output of the step before, as the client carries it', async () => {
    const flow = await createFlow(add('a'), add('b'), add('c'));
    const events = await client.walk(flow, { stepIndex: 0, message: 'm' });
    assert.equal(only(events, 'run_completed').result, 'mabc');
    const { executionId } = await begin(flow);
    const accumulatedOutputs = { a: 'ma', b: 'edited' };
    const last = await client.step(flow, { executionId, stepIndex: 2, accumulatedOutputs });
    assert.equal(only(last, 'run_completed').result, 'editedc');
  });

  it('is whatever a block may answer: keys of every name, as deep as steps around it make it', async () => {
    const deep = 'let a = { constructor: 1 }; for (let i = 1; i < 64; i++) a = [a]; return a;';
    const around: Step = { type: 'parallel', step_id: 'p', name: 'p', branches: { x: [passthrough('q')] } };
    const flow = await createFlow(code('deep', deep), around, passthrough('last'));
    const events = await client.walk(flow, { stepIndex: 0, message: 'm' });
    const { result } = (
      await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } })
    ).body;
    assert.match(JSON.stringify(result), /"constructor":1/);
    assert.deepEqual(only(events, 'run_completed').result, result);
  });

  it('is inputOverrides over accumulatedOutputs, and at stepIndex 0 the message', async () => {
    const flow = await createFlow(add('a'), add('b'), add('c'));
    const inputOverrides = { a: 'x' };
    const { events, executionId } = await begin(flow, { inputOverrides: { unknown: 1, a: 'x' } });
    for (const ignored of ['y', [1], null]) await begin(flow, { inputOverrides: ignored });
    assert.equal(only(events, 'block_completed').output, 'ma');
    const session = { executionId, accumulatedOutputs: { a: 'ma', b: 'mab' }, inputOverrides };
    const second = await client.step(flow, { ...session, stepIndex: 1 });
    assert.equal(only(second, 'block_completed').output, 'xb');
    const third = await client.step(flow, { ...session, stepIndex: 2 });
    assert.equal(only(third, 'block_completed').output, 'mabc');
    const alone = { executionId, stepIndex: 1, accumulatedOutputs: {}, inputOverrides: { a: null } };
    assert.equal(only(await client.step(flow, alone), 'block_completed').output, 'nullb');
  });

  it('includes message and parameters of the first call in every later one', async () => {
    const flow = await createFlow(echo('a'), echo('b'), echo('c'));
    const parameters = { tone: 'dry', nested: { a: [1] } };
    const { executionId } = await begin(flow, { message: 'first', parameters });
    for (const [stepIndex, message] of [
      [1, 'ignored'],
      [2, { ignored: true }],
    ]) {
      const events = await client.step(flow, {
        executionId,
        stepIndex,
        accumulatedOutputs: { a: 1, b: 1 },
        message,
      });
      assert.deepEqual(only(events, 'block_completed').output, { message: 'first', parameters, input: 1 });
    }
  });

  it('is what the prompt of an llm block is rendered with', async () => {
    const flow = await createFlow(
      passthrough('a'),
      llm('b', '{{message}}/{{previous_output}}/{{parameters.tone}}', 'demo/chat'),
    );
    const { executionId } = await begin(flow, {
      message: '{{previous_output}}',
      parameters: { tone: '$&' },
    });
    models.will(answer('done'));
    await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a: 'A' } });
    assert.deepEqual(asked(), ['{{previous_output}}/A/$&', 'chat']);
  });

  it('is what the blockOverrides of its call alone make of it, with inputOverrides or without', async () => {
    const flow = await createFlow(
      passthrough('a'),
      llm('b', 'stored {{previous_output}}', 'demo/chat'),
      passthrough('c'),
    );
    const { executionId } = await begin(flow, { blockOverrides: { b: { prompt: 'first call' } } });
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'A' } };
    const ask = async (more: object) => {
      models.will(answer('done'));
      await client.step(flow, { ...call, ...more });
      return asked();
    };
    const blockOverrides = { b: { prompt: 'changed {{previous_output}}', model: 'demo/other' } };
    assert.deepEqual(await ask({ blockOverrides, inputOverrides: { a: 'X' } }), ['changed X', 'other']);
    assert.deepEqual(await ask({}), ['stored A', 'chat']);
    assert.deepEqual(await ask({ inputOverrides: { a: 'X' } }), ['stored X', 'chat']);
    assert.deepEqual(await ask({ blockOverrides }), ['changed A', 'other']);
  });

  it('includes the attachments of the first call, which the model of every step must take', async () => {
    const flow = await createFlow(passthrough('a'), llm('b', 'x', 'demo/vision'), passthrough('c'));
    const attachments = [{ kind: 'url', url: `https://${HOST}/cat.png`, mime_type: 'image/png' }];
    const { executionId } = await begin(flow, { attachments });
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'A' } };
    models.will(answer('a cat'));
    await client.step(flow, call);
    const { messages } = models.calls.at(-1)?.body ?? {};
    const text = { type: 'text', text: 'x' };
    const image = { type: 'image_url', image_url: { url: attachments[0]?.url } };
    assert.deepEqual(messages, [{ role: 'user', content: [text, image] }]);
    const body = { ...call, blockOverrides: { b: { model: 'demo/chat' } } };
    const refused = await weir.call('POST', `${flow}/step`, { key: tenant.key, body });
    assert.deepEqual([refused.status, refused.body.detail.code], [400, 'MODEL_MIME_INCOMPATIBLE']);
    const past = { ...body, stepIndex: 2, accumulatedOutputs: { b: 'B' } };
    assert.equal(only(await client.step(flow, past), 'run_completed').result, 'B');
  });
});
