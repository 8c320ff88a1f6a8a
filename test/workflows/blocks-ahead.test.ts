import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import { toPlan } from '../../flow/plan.ts';
import { createBlocksAhead } from '../../workflows/blocks-ahead.ts';
import { beside, code, llm, passthrough } from '../blocks.ts';
import type { Tenant, Weir } from '../harness.ts';
import { getSharedWeir } from '../shared-weir.ts';
import { waitUntil } from '../wait-until.ts';

describe('short blocks that follow each other', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  async function run(steps: Parameters<Weir['createFlow']>[1]) {
    const flow = await weir.createFlow(tenant, steps);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    const handle = weir.client.workflow.getHandle(body.executionId);
    await handle.result().catch(() => undefined);
    const { events } = await handle.fetchHistory();
    const summaries = (events ?? []).flatMap(({ markerRecordedEventAttributes, userMetadata }) =>
      markerRecordedEventAttributes?.markerName === 'core_local_activity'
        ? [JSON.parse(Buffer.from(userMetadata?.summary?.data ?? '""').toString())]
        : [],
    );
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    const blocks = await weir.db
      .selectFrom('block_run')
      .select(['block_key', 'status', 'attempts'])
      .where('execution_id', '=', body.executionId)
      .orderBy('started_at')
      .execute();
    return {
      body,
      summaries,
      details: currentDetails.split('\n'),
      blocks: blocks.map(({ block_key, status, attempts }) => `${block_key} ${status} ${attempts}`),
    };
  }

  /** Runs the flow until it leaves these markers: on a busy machine, a block may take long or find no room. */
  const runUntil = (markers: string[], steps: Parameters<Weir['createFlow']>[1]) =>
    waitUntil(async () => {
      const result = await run(steps);
      return isDeepStrictEqual(result.summaries, markers) && result;
    });

  it('leave one marker, are recorded one by one, and are shown one by one', async () => {
    const { body, details, blocks } = await runUntil(
      ['a and up to 2 more'],
      [passthrough('a'), code('b', 'return input + "!";'), passthrough('c')],
    );
    assert.deepEqual([body.status, body.result], ['completed', 'm!']);
    assert.deepEqual(blocks, ['a completed 1', 'b completed 1', 'c completed 1']);
    assert.deepEqual(details, [
      '- a (passthrough): completed',
      '- b (code): completed',
      '- c (passthrough): completed',
    ]);
  });

  it('fail at the block that failed, which ran once', async () => {
    const { body, summaries, details, blocks } = await run([
      passthrough('a'),
      code('b', 'throw new Error("no");'),
      passthrough('c'),
    ]);
    assert.equal(body.status, 'failed');
    assert.match(body.errorMessage, /^Block "b" \(b\): .*no/);
    assert.deepEqual(blocks, ['a completed 1', 'b failed 1']);
    assert.deepEqual(details, ['- a (passthrough): completed', '- b (code): failed']);
    assert.equal(summaries[0], 'a and up to 2 more');
  });

  it('run in each iteration of a loop', async () => {
    const body = [code('x', 'return input + 1;'), passthrough('y')];
    const loop = { type: 'loop' as const, step_id: 'l', name: 'l', max_iterations: 2, body };
    const result = await runUntil(
      ['list', 'x #0 and up to 1 more', 'x #1 and up to 1 more', 'sum'],
      [code('list', 'return [1, 2];'), loop, code('sum', 'return input[0] + input[1];')],
    );
    assert.equal(result.body.result, 5);
    assert.deepEqual(
      result.blocks.map((line) => line.split(' ')[0]),
      ['list', 'x#0', 'y#0', 'x#1', 'y#1', 'sum'],
    );
  });

  it('have an activity each once they have taken 1.5 s', async () => {
    const slow = code('slow', 'for (const begun = Date.now(); Date.now() - begun < 1_600; );');
    await runUntil(
      ['slow and up to 2 more', 'b and up to 1 more'],
      [slow, passthrough('b'), passthrough('c')],
    );
  });

  it('are in no parallel step, and as many as there may be', () => {
    const plan = toPlan([
      passthrough('a'),
      code('b', ''),
      llm('model', '', 'demo/chat'),
      ...Array.from({ length: 12 }, (_, index) => passthrough(`p${index}`)),
      beside(passthrough('inside')),
    ]);
    const ahead = createBlocksAhead(plan, undefined);
    const next = (index: number) => {
      const block = plan[index];
      return block?.type === 'sequential' ? ahead.list(block, []).map(({ stepId }) => stepId) : undefined;
    };
    assert.deepEqual(next(0)?.slice(0, 3), ['b', 'model', 'p0']);
    assert.deepEqual(next(3), ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9']);
    assert.deepEqual(next(13), ['p11']);
    for (let begun = 0; begun < BLOCK_RUNS_MAX - 1; begun += 1) ahead.take('other');
    assert.deepEqual(next(3), ['p1']);
    ahead.take('last');
    assert.deepEqual(next(3), []);
  });
});
