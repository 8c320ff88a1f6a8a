// A session at a path without a version, which goes on with the version that is published meanwhile.
import assert from 'node:assert/strict';
import type { ApiDeps } from '../../../api/deps.ts';
import { traceRun, traceStep } from '../../../api/mcp/trace-run.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import type { Step } from '../../../flow/definition.ts';
import { openRegistry } from '../../../platform/models/live-registry.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';
import {
  asking,
  type Body,
  detail,
  MODEL,
  resultsOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

describe('a session, after another version was published', () => {
  const h = useToolCalls();
  let client: StepClient;
  before(async () => {
    client = await createStepClient(h.weir, h.tenant);
  });

  const earlier: Step[] = [passthrough('a'), passthrough('b')];
  const last = passthrough('last');
  /** The flow of a session that is paused at its third step, and the pause with a result. */
  async function pause(): Promise<{ flow: string; resume: Body }> {
    const flow = await h.weir.createFlow(h.tenant, [...earlier, asking('ask'), last]);
    h.models.will(callTools([toolCall('c1')]));
    const call = { stepIndex: 2, accumulatedOutputs: { a: 1, b: 2 }, tools: [weather] };
    const paused: Body = only(await client.step(flow, call), 'step_paused_for_tool_calls');
    const toolCallMessages = [...paused.toolCallMessages, ...resultsOf(paused)];
    return { flow, resume: { ...paused, toolCallMessages, tools: [weather] } };
  }
  const refuse = async (flow: string, body: Body) =>
    detail(await h.weir.call('POST', `${flow}/step`, { key: h.tenant.key, body }), 400, 'INVALID_RESUME');

  const versions: [string, Step[]][] = [
    ['has a further step', [...earlier, asking('ask'), last, passthrough('new')]],
    [
      'has an earlier step inside another one',
      [
        { type: 'parallel', step_id: 'p', name: 'p', branches: { one: [passthrough('a')] } },
        passthrough('b'),
        asking('ask'),
        last,
      ],
    ],
  ];
  for (const [how, steps] of versions)
    it(`takes its whole pause back in a version that ${how}, and answers the same again`, async () => {
      const { flow, resume } = await pause();
      await h.publish(flow, steps);
      await refuse(flow, { ...resume, accumulatedOutputs: { a: 1, b: 'changed' } });
      h.models.will(answer('found'));
      const events = await client.step(flow, resume);
      assert.equal(only(events, 'block_completed').output, 'found');
      assert.deepEqual(await client.step(flow, resume), events);
      await refuse(flow, { ...resume, resumeState: `${resume.resumeState}x` });
    });

  describe('whose paused step takes no tool results any more', () => {
    const branches = { one: [llm('inner', 'x', MODEL)] };
    const changed: [string, Step][] = [
      ['an llm block without tools', llm('ask', 'x', MODEL)],
      ['a code block', code('ask', 'return 1;')],
      ['a parallel step', { type: 'parallel', step_id: 'ask', name: 'ask', branches }],
      ['a loop', { type: 'loop', step_id: 'ask', name: 'ask', max_iterations: 2, body: branches.one }],
    ];
    for (const [what, step] of changed)
      it(`is 400 STALE_TREE with the new steps, before anything runs: ${what}`, async () => {
        const { flow, resume } = await pause();
        const { resumeState: _, ...unsigned } = resume;
        const steps = [...earlier, step, asking('more')];
        await h.publish(flow, steps);
        const asked = h.models.calls.length;
        for (const body of [resume, unsigned, { ...unsigned, tools: undefined }]) {
          const refused = await h.weir.call('POST', `${flow}/step`, { key: h.tenant.key, body });
          const { message, steps: plan } = detail(refused, 400, 'STALE_TREE');
          assert.match(message, /step "ask", .* takes no tool results: start a new session/);
          assert.deepEqual(
            plan.map(({ step_id }: Body) => step_id),
            steps.map(({ step_id }) => step_id),
          );
        }
        assert.equal(h.models.calls.length, asked);
        assert.deepEqual((await h.charges(resume.executionId)).length, 1);
      });

    it('is 400 STALE_TREE also in the version with which the session began', async () => {
      const flow = await h.weir.createFlow(h.tenant, [llm('ask', 'x', MODEL), asking('more')]);
      h.models.will(answer('1'), callTools([toolCall('c1')]));
      const call = { stepIndex: 0, message: 'm', tools: [weather] };
      const { executionId } = only(await client.step(flow, call), 'run_started');
      await h.publish(flow, [asking('ask'), asking('more')]);
      const events = await client.step(flow, { ...call, executionId });
      const paused: Body = only(events, 'step_paused_for_tool_calls');
      const toolCallMessages = [...paused.toolCallMessages, ...resultsOf(paused)];
      const body = { executionId, stepIndex: 0, toolCallMessages, tools: [weather] };
      const refused = await h.weir.call('POST', `${flow}/v1/step`, { key: h.tenant.key, body });
      detail(refused, 400, 'STALE_TREE');
    });
  });

  it('answers the same resume again where an output that came with it is of a step by then', async () => {
    const around = (stepId: string): Step => ({
      ...{ type: 'parallel', step_id: 'p', name: 'p' },
      branches: { one: [passthrough(stepId)] },
    });
    const flow = await h.weir.createFlow(h.tenant, [around('a'), asking('ask'), last]);
    h.models.will(callTools([toolCall('c1')]), answer('found'));
    const accumulatedOutputs = { p: { one: 1 }, a: 1 };
    const call = { stepIndex: 1, accumulatedOutputs, tools: [weather] };
    const paused: Body = only(await client.step(flow, call), 'step_paused_for_tool_calls');
    const toolCallMessages = [...paused.toolCallMessages, ...resultsOf(paused)];
    const resume = { ...paused, accumulatedOutputs, toolCallMessages, tools: [weather] };
    const events = await client.step(flow, resume);
    assert.equal(only(events, 'block_completed').output, 'found');
    await h.publish(flow, [around('b'), asking('ask'), passthrough('a')]);
    assert.deepEqual(await client.step(flow, resume), events);
  });

  it('answers the same resume again where its step has another index by then', async () => {
    const { flow, resume } = await pause();
    h.models.will(answer('found'));
    const events = await client.step(flow, resume);
    await h.publish(flow, [...earlier, passthrough('new'), asking('ask'), last]);
    assert.deepEqual(await client.step(flow, resume), events);
  });

  it('shows in its traces what each call sent in the version that it ran', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask', 'old'), last]);
    h.models.will(answer('1'), answer('2'));
    const call = { stepIndex: 0, message: 'm' };
    const { executionId } = only(await client.step(flow, call), 'run_started');
    const branches = { one: [llm('ask', 'new', MODEL)] };
    await h.publish(flow, [{ type: 'parallel', step_id: 'around', name: 'around', branches }, last]);
    await client.step(flow, { ...call, executionId });
    const sent = h.models.calls.map(({ body: { messages } }) => messages);
    const { blocks } = (await h.read(flow, executionId, '/blocks')).body;
    for (const [index, { callId }] of blocks.entries()) {
      const { body } = await h.read(flow, executionId, `/blocks/ask?call=${callId}`);
      assert.deepEqual(body.sent.messages, sent[index]);
    }
    assert.deepEqual([blocks.length, sent.length], [2, 2]);

    const { db, httpGates: gates, largeValues, config } = h.weir;
    const registry = await openRegistry(config);
    const deps = { db, gates, largeValues, registry, definitions: createFlowDefinitions(db) } as ApiDeps;
    const access = { projectId: h.tenant.projectId };
    const flow_run_id = executionId;
    const { flow_run } = await traceRun(deps, access, { flow_run_id });
    const traced = [
      flow_run?.blocks,
      (await traceStep(deps, access, { flow_run_id, step_id: 'ask' })).executions,
      (await traceStep(deps, access, { flow_run_id, step_id: 'around' })).executions,
    ].map((shown) => shown?.map((block) => (block.sent as Body).messages));
    assert.deepEqual(traced, [sent, sent, sent.slice(1)]);
    registry.close();
  });
});
