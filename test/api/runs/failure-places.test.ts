import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { readMessages } from '../../sse.ts';
import { createStepClient, only } from './step-client.ts';
import { readRest } from './step-streams-harness.ts';

const ITEMS = code('items', 'return [1, 2, 3];');
const refuseTwo = code('refuse', 'if (input === 2) throw new Error("odd"); return input;');
const EACH: Step = { type: 'loop', step_id: 'each', name: 'Each', max_iterations: 10, body: [refuseTwo] };

/** The fields that every description of this failure has. */
const FAILURE = {
  code: 'CODE_ERROR',
  step_id: 'refuse',
  iterations: [1],
  failureReason: 'error',
};

describe('the code, step and iteration of a failure', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [ITEMS, EACH]);
  });
  after(() => weir.stop());
  const execute = async (path: string, message = 'm') =>
    (await weir.call('POST', `${path}/execute`, { key: tenant.key, body: { message } })).body;

  it('are in the answer of /execute, in the state of the run and in the list of runs', async () => {
    const answer = await execute(flow);
    const state = (await weir.call('GET', `${flow}/jobs/${answer.executionId}`, { key: tenant.key })).body;
    const { runs } = (await weir.call('GET', `${flow}/runs`, { key: tenant.key })).body;
    for (const body of [answer, state, runs[0]]) {
      assert.partialDeepStrictEqual(body, { status: 'failed', ...FAILURE });
      assert.match(body.errorMessage, /^Block "refuse" \(refuse#1\): /);
    }
  });

  it('are in the entry of the block, whose other iterations are told apart', async () => {
    const { blocks } = await execute(flow);
    const failed = blocks.find(({ status }: { status: string }) => status === 'failed');
    assert.partialDeepStrictEqual(failed, {
      step_id: 'refuse',
      key: 'refuse#1',
      iterations: [1],
      code: 'CODE_ERROR',
    });
    const done = blocks.find(({ key }: { key: string }) => key === 'refuse#0');
    assert.deepEqual([done.iterations, 'code' in done], [[0], false]);
    assert.equal('iterations' in blocks[0], false);
  });

  it('are in the events of the run', async () => {
    const { executionId } = await execute(flow);
    const headers = { authorization: `Bearer ${tenant.key}` };
    const events = await fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, { headers });
    const messages = await readRest(readMessages(events));
    assert.partialDeepStrictEqual(only(messages, 'run_failed'), FAILURE);
    const { code, step_id, iterations } = only(messages, 'block_failed');
    assert.deepEqual([code, step_id, iterations], ['CODE_ERROR', 'refuse', [1]]);
  });

  it('are in run_failed of /step', async () => {
    const client = await createStepClient(weir, tenant);
    const events = await client.step(flow, { stepIndex: 0, message: 'm', runRemaining: true });
    const { stepId, code, iterations } = only(events, 'run_failed');
    assert.deepEqual([stepId, code, iterations], ['refuse', 'CODE_ERROR', [1]]);
  });

  it('name a loop that could not begin', async () => {
    const answer = await execute(await weir.createFlow(tenant, [EACH]));
    assert.partialDeepStrictEqual(answer, { code: 'LOOP_INPUT_NOT_ARRAY', step_id: 'each' });
    assert.equal('iterations' in answer, false);
  });
});
