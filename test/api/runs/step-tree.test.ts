import assert from 'node:assert/strict';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import type { FlowDefinition, Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { callTools, type FakeModelServer } from '../../fakes/model-server.ts';
import type { Answer, Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import type { SseMessage } from '../../sse.ts';
import { createStepClient, names, only, resumeOf, type StepClient } from './step-client.ts';

const tools = [{ type: 'function', function: { name: 'look' } }];

describe('POST …/step: the tree of steps', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  let client: StepClient;
  before(async () => {
    models = (await getSharedWeir()).models;
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(async () => {
    await weir.stop();
  });

  const createFlow = (...steps: Step[]) => weir.createFlow(tenant, steps);
  const step = (path: string, body: object) => () =>
    weir.call('POST', `${path}/step`, { key: tenant.key, body });
  /** `detail` of a refusal, which is JSON and has left no trace. */
  async function refused(call: () => Promise<Answer>, status: number, code: string) {
    const count = () => weir.db.selectFrom('run').select('execution_id').execute();
    const before = (await count()).length;
    const { body, status: got, headers } = await call();
    assert.deepEqual([got, body.detail?.code], [status, code], JSON.stringify(body));
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.equal((await count()).length, before);
    return body.detail;
  }
  const begin = async (path: string) =>
    only(await client.step(path, { stepIndex: 0, message: 'm' }), 'run_started').executionId as string;
  /** Publishes what no check has seen, as production. */
  async function publishUnchecked(definition: unknown): Promise<string> {
    const path = await weir.createFlow(tenant, [passthrough('a')]);
    await republish(path, definition);
    return path;
  }
  async function republish(path: string, definition: unknown): Promise<number> {
    const slug = path.split('/').at(-1) as string;
    const { id } = await weir.db
      .updateTable('flow')
      .set({ draft: JSON.stringify(definition) as never })
      .where('slug', '=', slug)
      .returning('id')
      .executeTakeFirstOrThrow();
    const version = await publishVersion(weir.db, id, 'again');
    await setProductionVersion(weir.db, id, version);
    return version;
  }

  describe('loop and parallel steps', () => {
    const inner = (stepId: string, body: Step[]): Step => ({
      type: 'loop',
      step_id: stepId,
      name: stepId,
      max_iterations: 10,
      body,
    });
    /** The events of steps: those of the blocks inside them have a key. */
    const ofSteps = (events: SseMessage[]) => events.filter(({ data }) => data.key === undefined);
    it('run whole in one call', async () => {
      const flow = await createFlow(
        code('list', 'return [1, 2, 3];'),
        inner('each', [code('double', 'return input * 2;'), code('more', 'return input + 1;')]),
        {
          type: 'parallel',
          step_id: 'both',
          name: 'both',
          branches: {
            sum: [code('sum', 'return input[0] + input[2];')],
            all: [inner('again', [code('x', 'return input + "x";')])],
          },
        },
      );
      const executionId = await begin(flow);
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { list: [1, 2, 3] } };
      const looped = ofSteps(await client.step(flow, call));
      assert.deepEqual(names(looped), ['block_started', 'block_completed', 'step_paused']);
      const each = only(looped, 'block_completed');
      assert.deepEqual([each.stepId, each.output, each.blocks.length], ['each', [3, 5, 7], 6]);
      assert.deepEqual(only(looped, 'block_started').type, 'loop');
      const accumulatedOutputs = { list: [1, 2, 3], each: each.output };
      const last = ofSteps(await client.step(flow, { executionId, stepIndex: 2, accumulatedOutputs }));
      assert.deepEqual(names(last), ['block_started', 'block_completed', 'run_completed']);
      assert.deepEqual(only(last, 'run_completed').result, { sum: 10, all: ['3x', '5x', '7x'] });
    });

    it('fail with the block inside them named', async () => {
      const flow = await createFlow(inner('each', [code('bad', 'throw new Error("no")')]));
      const none = await client.step(flow, { stepIndex: 0, message: 'm' });
      assert.equal(only(none, 'run_failed').code, 'LOOP_INPUT_NOT_ARRAY');
      const nested = await createFlow(code('list', 'return [1];'), inner('each', [code('bad', 'throw 1;')]));
      const events = await client.step(nested, { stepIndex: 0, message: 'm', runRemaining: true });
      assert.equal(only(events, 'run_failed').stepId, 'bad');
    });
  });

  describe('400', () => {
    const loop = (body: unknown) => ({ type: 'loop', step_id: 'l', name: 'l', max_iterations: 5, body });
    for (const [what, definition] of [
      ['a step_id there twice', { steps: [passthrough('a'), passthrough('a')] }],
      ['an empty loop', { steps: [loop([])] }],
      ['an llm block without a model', { steps: [{ ...llm('a', 'x', ''), model: undefined }] }],
      ['a step of no known type', { steps: [{ type: 'switch', step_id: 'a', name: 'a' }] }],
      ['a loop without a body', { steps: [loop(undefined)] }],
      ['a parallel step without branches', { steps: [{ type: 'parallel', step_id: 'p', name: 'p' }] }],
      ['a step that is not an object', { steps: [passthrough('a'), null] }],
      ['steps that are not an array', { steps: 'none' }],
      ['no steps at all', {}],
      ['a block of no known type', { steps: [{ ...passthrough('a'), processor_type: 'shell' }] }],
      [
        'a JSON Schema that can never be used',
        { steps: [passthrough('a', { inputSchema: { $ref: 'https://example.com/schema' } })] },
      ],
      ['a step_id that is not text', { steps: [{ ...passthrough('a'), step_id: { a: 1 } }] }],
    ] as const)
      it(`INVALID_TREE: ${what}`, async () => {
        const path = await publishUnchecked(definition);
        const { problems } = await refused(step(path, { stepIndex: 0, message: 'm' }), 400, 'INVALID_TREE');
        assert(problems.length > 0 && problems.every(({ message }: { message: string }) => message));
        for (const { path, step_id } of problems)
          if (path.startsWith('steps[')) assert.notEqual(step_id, undefined);
      });

    describe('STALE_TREE', () => {
      const first: Step[] = [passthrough('a'), code('b', 'return input + "b";'), passthrough('c')];
      const second: Step[] = [passthrough('a'), passthrough('new'), passthrough('c')];
      const plan = second.map(({ step_id, name, type }, index) => ({ index, step_id, name, type }));

      it('a stepId of accumulatedOutputs or inputOverrides is gone; detail.steps starts a new session', async () => {
        const path = await weir.createFlow(tenant, first);
        const executionId = await begin(path);
        const call = { executionId, stepIndex: 2, accumulatedOutputs: { a: 'm', b: 'mb' } };
        await republish(path, { steps: second });
        assert.deepEqual((await refused(step(path, call), 400, 'STALE_TREE')).steps, plan);
        const overridden = { ...call, accumulatedOutputs: { a: 'm' }, inputOverrides: { b: 1 } };
        assert.deepEqual((await refused(step(path, overridden), 400, 'STALE_TREE')).steps, plan);
        assert.equal(
          only(await client.walk(path, { stepIndex: 0, message: 'n' }), 'run_completed').result,
          'n',
        );
      });

      it('the step before is new, so that the session has no output of it', async () => {
        const path = await weir.createFlow(tenant, first);
        const executionId = await begin(path);
        await republish(path, { steps: [second[1], ...first] });
        const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
        const { steps } = await refused(step(path, call), 400, 'STALE_TREE');
        assert.deepEqual(
          steps.map(({ step_id }: { step_id: string }) => step_id),
          ['new', 'a', 'b', 'c'],
        );
      });

      it('the step that waits for tool results is gone, or has another index now', async () => {
        const ask = llm('ask', 'x', 'demo/chat', { processor_config: { tools_enabled: true } });
        const path = await weir.createFlow(tenant, [passthrough('a'), ask]);
        const executionId = await begin(path);
        const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' }, tools };
        models.will(callTools([{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }]));
        const resume = resumeOf(call, await client.step(path, call));
        await republish(path, { steps: [passthrough('a'), code('b', 'return input;'), ask] });
        const { steps, message } = await refused(step(path, resume), 400, 'STALE_TREE');
        assert.match(message, /waits for tool results of the step "ask", .* another step with the index 1/);
        assert.partialDeepStrictEqual(steps[2], { index: 2, step_id: 'ask' });
        await republish(path, { steps: [passthrough('a'), { ...ask, step_id: 'other' }] });
        await refused(step(path, resume), 400, 'STALE_TREE');
      });

      it('the flow has fewer steps now, or no step that an override names', async () => {
        const path = await weir.createFlow(tenant, first);
        const executionId = await begin(path);
        await republish(path, { steps: [passthrough('a')] });
        const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
        assert.equal((await refused(step(path, call), 400, 'STALE_TREE')).steps.length, 1);
        const overridden = {
          executionId,
          stepIndex: 0,
          message: 'm',
          blockOverrides: { c: { prompt: 'x' } },
        };
        assert.equal((await refused(step(path, overridden), 400, 'STALE_TREE')).steps.length, 1);
        const beyond = { executionId: await begin(path), stepIndex: 1, accumulatedOutputs: { a: 'm' } };
        await refused(step(path, beyond), 400, 'INVALID_STEP_INDEX');
      });

      it('says that the name may be wrong, where nothing was published again', async () => {
        const path = await weir.createFlow(tenant, first);
        const call = { executionId: await begin(path), stepIndex: 1, accumulatedOutputs: { nope: 1 } };
        const { message } = await refused(step(path, call), 400, 'STALE_TREE');
        assert.match(message, /has no step "nope"\. If the flow was published again.*correct the name\.$/);
      });

      it('not for a session that is pinned to its version', async () => {
        const path = await weir.createFlow(tenant, first);
        const executionId = await begin(`${path}/v1`);
        await republish(path, { steps: second });
        const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
        assert.equal(only(await client.step(`${path}/v1`, call), 'block_completed').output, 'mb');
      });
    });
  });

  describe('422', () => {
    it('TOOLS_IN_NON_SEQUENTIAL_STEP: the block with the flag is inside a loop or parallel step', async () => {
      const body = [llm('inside', 'x', 'demo/chat', { processor_config: { tools_enabled: true } })];
      const around: FlowDefinition['steps'] = [
        { type: 'loop', step_id: 'l', name: 'l', max_iterations: 5, body },
        { type: 'parallel', step_id: 'p', name: 'p', branches: { b: body } },
      ];
      for (const outer of around) {
        const path = await publishUnchecked({ steps: [passthrough('a'), outer] });
        const sent = { stepIndex: 0, message: 'm', tools };
        const detail = await refused(step(path, sent), 422, 'TOOLS_IN_NON_SEQUENTIAL_STEP');
        assert.equal(detail.step_id, 'inside');
      }
    });
  });
});
