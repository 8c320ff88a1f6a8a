// JSON of many small values takes long to parse, so requests have few of them: what a run hands out is taken back all the same,
// but for keys.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { createStepClient, only } from './step-client.ts';
import {
  asking,
  type Body,
  detail,
  resultsOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

const values = (stepId: string, count: number) => code(stepId, `return Array(${count}).fill(1);`);
const keys = (stepId: string, count: number) =>
  code(
    stepId,
    `return Object.fromEntries(Array.from({ length: ${count} }, (_, i) => ['${stepId}' + i, 1]));`,
  );

describe('outputs of many values and keys', () => {
  const h = useToolCalls();
  const create = (...steps: Step[]) => h.weir.createFlow(h.tenant, steps);

  for (const [what, a, b] of [
    ['values', values('a', 150_000), values('b', 150_000)],
    ['different keys', keys('a', 60_000), keys('b', 60_000)],
  ] as const)
    it(`go through a pause that is sent back whole: ${what}`, async () => {
      const flow = await create(a, b, asking('ask', 'x'));
      h.models.will(callTools([toolCall('c1')]), answer('ok'));
      const pause = await h.pause(flow);
      const toolCallMessages = [...pause.toolCallMessages, ...resultsOf(pause)];
      const { status, body } = await h.execute(flow, { ...pause, toolCallMessages, tools: [weather] });
      assert.deepEqual([status, body.result], [200, 'ok'], JSON.stringify(body).slice(0, 500));
    });

  for (const [what, steps] of [
    ['values before a pause', [...['a', 'b', 'c'].map((id) => values(id, 150_000)), asking('ask', 'x')]],
    [
      'values that a parallel step puts together',
      [
        {
          type: 'parallel',
          step_id: 'p',
          name: 'p',
          branches: { x: [values('a', 200_000)], y: [values('b', 200_000)] },
        },
        asking('ask', 'x'),
      ],
    ],
  ] as [string, Step[]][])
    it(`fail the run that hands out more than is taken back: ${what}`, async () => {
      const flow = await create(...steps);
      h.models.will(callTools([toolCall('c1')]));
      const { body } = await h.execute(flow);
      assert.deepEqual([body.status, body.code], ['failed', 'OUTPUT_TOO_LARGE']);
      assert.match(body.errorMessage, /many values/);
      h.models.calls.splice(0);
    });

  it('go to the next step of a session as a block answered them, and as a fork does', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    const flow = await create(values('a', 249_999), code('b', 'return input.length;'), passthrough('c'));
    const first = await client.step(flow, { stepIndex: 0, message: 'm' });
    const { executionId } = only(first, 'run_started');
    const { output } = only(first, 'block_completed') as Body;
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: output } };
    assert.equal(only(await client.step(flow, call), 'block_completed').output, 249_999);
    const { status, body: request } = await h.read(flow, executionId, '/fork?step=1');
    assert.equal(status, 200);
    assert.equal(only(await client.step(flow, request), 'block_completed').output, 249_999);
  });

  it('are left out of a fork where they do not fit into one request together', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    const flow = await create(...['a', 'b', 'c'].map((id) => values(id, 249_999)), passthrough('d'));
    const { body: run } = await h.execute(flow, { tools: [] });
    const { body: request } = await h.read(flow, run.executionId, '/fork?step=3');
    assert.deepEqual(Object.keys(request.accumulatedOutputs), ['b', 'c']);
    only(await client.step(flow, request), 'block_completed');
  });

  it('are refused beyond what a request may hold', async () => {
    const flow = await create(passthrough('a'));
    const refused = await h.execute(flow, { tools: [], parameters: { a: Array(699_050).fill(0) } });
    assert.match(detail(refused, 422, 'VALIDATION_ERROR').message, /holds more than 699050 values/);
  });
});
