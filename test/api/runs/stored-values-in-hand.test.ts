// A request of a few bytes for which large values are read waits for their memory like one that brings them.
import assert from 'node:assert/strict';
import { REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { code } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { createStepClient, only, resumeOf as resumeOfStep, type StepClient } from './step-client.ts';
import {
  asking,
  type Body,
  detail,
  resumeOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

const LARGE = 'x'.repeat(256 * 1024);
const tools = [weather];

describe('large stored values that a small request needs', () => {
  const h = useToolCalls();
  let client: StepClient;
  let flow: string;
  before(async () => {
    client = await createStepClient(h.weir, h.tenant);
    flow = await h.weir.createFlow(h.tenant, [
      code('a', 'return 1;'),
      asking('ask'),
      code('end', 'return 2;'),
    ]);
  });

  /** Sends a request while its organization has its share of answers in hand; asserts that it waits. */
  async function waits<T>(send: () => Promise<T>): Promise<T> {
    const { answers } = h.weir.httpGates;
    const permit = await answers.acquire(h.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
    let answered = false;
    const answer = send().finally(() => {
      answered = true;
    });
    answer.catch(() => undefined);
    await waitUntil(() => answered || answers.count().queued > 0);
    const waited = !answered;
    permit.release();
    assert(waited, 'it did not wait');
    return answer;
  }
  /** A session after its first step. */
  const begin = async (more: object = {}): Promise<string> =>
    only(await client.step(flow, { stepIndex: 0, message: 'm', ...more }), 'run_started').executionId;
  /** A call that pauses at the second step, for which the client brings a large output. */
  const bringing = (executionId: string) => ({
    ...{ executionId, stepIndex: 1, tools },
    accumulatedOutputs: { a: LARGE },
  });

  it('are in hand for a later call of a session', async () => {
    const executionId = await begin({ parameters: { large: LARGE } });
    h.models.will(answer('found'));
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 1 } };
    assert.equal(only(await waits(() => client.step(flow, call)), 'block_completed').output, 'found');
  });

  it('are in hand for a resume of /execute', async () => {
    h.models.will(callTools([toolCall('c1')]), answer('found'));
    const paused = await h.pause(flow, { message: LARGE });
    const { body } = await waits(() => h.execute(flow, resumeOf(paused)));
    assert.deepEqual([body.status, body.result], ['completed', 2]);
  });

  it('are in hand for a resume of /step that leaves the outputs out', async () => {
    const executionId = await begin();
    h.models.will(callTools([toolCall('c1')]), answer('found'));
    const { accumulatedOutputs, ...call } = bringing(executionId);
    const events = await client.step(flow, { ...call, accumulatedOutputs });
    const { accumulatedOutputs: _, ...resume } = resumeOfStep(call, events);
    assert.equal(only(await waits(() => client.step(flow, resume)), 'block_completed').output, 'found');
  });

  it('are in hand where the cap of a resumed block is looked up', async () => {
    const executionId = await begin();
    h.models.will(callTools([toolCall('c1')]), answer('found'));
    const call = bringing(executionId);
    const resume = resumeOfStep(call, await client.step(flow, call));
    assert.equal(only(await waits(() => client.step(flow, resume)), 'block_completed').output, 'found');
  });

  it('are in hand for the pause of a call whose client brought them, in its stream and its poll', async () => {
    const executionId = await begin();
    h.models.will(callTools([toolCall('c1')]));
    const events = await waits(() => client.step(flow, bringing(executionId)));
    assert.equal(only(events, 'step_paused_for_tool_calls').accumulatedOutputs.a.length, LARGE.length);
    const { body } = await waits(() => h.read(flow, executionId));
    assert.equal(body.accumulatedOutputs.a.length, LARGE.length);
  });

  it('are in hand for the second pause of /execute, to whose outputs its caller has added', async () => {
    h.models.will(callTools([toolCall('c1')]), callTools([toolCall('c2')]));
    const paused = await h.pause(flow);
    const resume = { ...resumeOf(paused), accumulatedOutputs: { a: LARGE } };
    const { body } = await waits(() => h.execute(flow, resume));
    assert.deepEqual([body.status, body.accumulatedOutputs.a.length], ['tool_calls_required', LARGE.length]);
  });

  it('are in hand for a fork of a run with a large input', async () => {
    h.models.will(answer('found'));
    const { executionId } = (await h.execute(flow, { message: LARGE })).body;
    const { body } = await waits(() => h.read(flow, executionId, '/fork?step=1'));
    assert.deepEqual([body.message.length, body.accumulatedOutputs], [LARGE.length, { a: 1 }]);
  });

  it('are in hand for the message that a flow without steps answers', async () => {
    const empty = await h.weir.createFlow(h.tenant, []);
    const message = LARGE;
    const run = () => h.weir.call('POST', `${empty}/execute`, { key: h.tenant.key, body: { message } });
    const { body } = await waits(run);
    assert.equal(body.result, LARGE);
    assert.equal((await waits(() => h.read(empty, body.executionId))).body.result, LARGE);
  });

  describe('for the events of a loop', () => {
    /** A session whose next step is a loop, and its call, which brings the list. */
    async function beginLoop(item: string) {
      const body = [code('each', 'return 1;')];
      const loop = { type: 'loop', step_id: 'loop', name: 'loop', max_iterations: 2, body } as const;
      const looping = await h.weir.createFlow(h.tenant, [
        code('a', 'return 1;'),
        loop,
        code('end', 'return 2;'),
      ]);
      const events = await client.step(looping, { stepIndex: 0, message: 'm' });
      const { executionId } = only(events, 'run_started');
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: [item] } };
      return async () => {
        const told = (await client.step(looping, call)).filter(({ data }) => data.stepId === 'loop');
        return only(told, 'block_completed').output;
      };
    }

    it('are in hand as the list that it looks into', async () => {
      assert.deepEqual(await waits(await beginLoop(LARGE)), [1]);
    });
  });

  it('are not read for a resume that names no pause of the run', async () => {
    h.models.will(callTools([toolCall('c1')]));
    const other = await h.weir.createFlow(h.tenant, [asking('ask'), asking('next')]);
    const paused: Body = await h.pause(other);
    const { executionId } = paused;
    // Whoever reads it fails.
    await h.weir.db.updateTable('run').set({ input: null }).where('execution_id', '=', executionId).execute();
    const refused = (pausedAtStep: string) => h.execute(other, { ...resumeOf(paused), pausedAtStep });
    detail(await refused('x'), 400, 'PAUSED_STEP_INVALID');
    detail(await refused('next'), 400, 'EXECUTION_ID_INVALID');
  });
});
