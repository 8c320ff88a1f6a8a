// A request that holds the turn at large work never waits for another: that would come only after its time is over.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { LARGE_BYTES, type LargeWork } from '../../../platform/limits/large-work.ts';
import { code, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { asking, resumeOf, toolCall, useToolCalls } from './tool-calls-harness.ts';

const LARGE_FLOW = passthrough('a', { prompt: 'x'.repeat(LARGE_BYTES) });

/** Counts the turns at large work that are asked for, and those of them for which another is held meanwhile, until `stop`. */
function watchTurns(work: LargeWork) {
  const turns = { asked: 0, heldMeanwhile: 0 };
  const { take } = work;
  let held = 0;
  work.take = async (owner, bytes, options) => {
    if (bytes < LARGE_BYTES) return take(owner, bytes, options);
    turns.asked += 1;
    if (held > 0) turns.heldMeanwhile += 1;
    const end = await take(owner, bytes, options);
    held += 1;
    let ended = false;
    return () => {
      if (!ended) held -= 1;
      ended = true;
      end();
    };
  };
  const stop = () => {
    work.take = take;
  };
  return { turns, stop };
}

describe('a request about a run of a large flow', () => {
  const h = useToolCalls();

  /** Counts the turns that a request asks for. */
  async function turnsOf<T>(send: () => Promise<T>) {
    const { turns, stop } = watchTurns(h.weir.largeValues.work);
    try {
      return { answer: await send(), turns };
    } finally {
      stop();
    }
  }

  /** Makes a run one of a version with this step, which no process has loaded. */
  async function makeRunOf(step: Step, executionId: string): Promise<void> {
    const large = await h.weir.createFlow(h.tenant, [step]);
    await h.weir.db
      .updateTable('run')
      .set({
        flow_version_id: (eb) =>
          eb
            .selectFrom('flow_version')
            .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
            .select('flow_version.id')
            .where('flow.slug', '=', large.split('/').at(-1) ?? ''),
      })
      .where('execution_id', '=', executionId)
      .execute();
  }

  /** A run of these steps that has ended, as one of LARGE_FLOW. */
  async function runOfLarge(steps: Step[]): Promise<string> {
    const flow = await h.weir.createFlow(h.tenant, steps);
    const { body } = await h.execute(flow, { tools: undefined });
    assert.equal(body.status, 'completed', JSON.stringify(body));
    await makeRunOf(LARGE_FLOW, body.executionId);
    return `${flow}/jobs/${body.executionId}`;
  }
  const get = async (path: string) => {
    const { key } = await createScopedKey(h.weir, h.tenant.projectId, 'read');
    return h.weir.call('GET', path, { key });
  };

  it('loads the flow before it holds a turn at the answer', async () => {
    const path = await runOfLarge([passthrough('a')]);
    const { answer, turns } = await turnsOf(() => get(`${path}/flow`));
    assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500));
    assert.deepEqual(answer.body.steps, [LARGE_FLOW]);
    assert.deepEqual(turns, { asked: 2, heldMeanwhile: 0 });
  });

  it('has counted its blocks before it holds a turn at the result', async () => {
    const path = await runOfLarge([code('a', `return 'x'.repeat(${LARGE_BYTES});`)]);
    const { answer, turns } = await turnsOf(() => get(path));
    assert.equal(answer.body.blockCount, 1);
    assert.equal(answer.body.result.length, LARGE_BYTES);
    assert.deepEqual(turns, { asked: 2, heldMeanwhile: 0 });
  });

  it('has loaded the flow of a pause before it holds a turn at that', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask', 'short')]);
    h.models.will(callTools([toolCall('c1')]));
    const { executionId } = await h.pause(flow, { message: 'x'.repeat(LARGE_BYTES) });
    await makeRunOf(asking('ask', 'x'.repeat(LARGE_BYTES)), executionId);
    // Its blocks are counted already: nothing else loads it.
    const uncounted = h.weir.db.updateTable('flow_version').where('block_count', 'is', null);
    await uncounted.set({ block_count: 1 }).execute();
    const { answer, turns } = await turnsOf(() => get(`${flow}/jobs/${executionId}`));
    assert.equal(answer.body.status, 'tool_calls_required', JSON.stringify(answer.body).slice(0, 500));
    assert.deepEqual(turns, { asked: 2, heldMeanwhile: 0 });
  });

  it('ends the turn of a large resume before its flow is loaded', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    h.models.will(callTools([toolCall('c1')]), answer('done'));
    const paused = await h.pause(flow);
    await makeRunOf(asking('ask', 'x'.repeat(LARGE_BYTES)), paused.executionId);
    const raw = JSON.stringify(resumeOf(paused)) + ' '.repeat(LARGE_BYTES);
    const { key } = h.tenant;
    const headers = { 'content-type': 'application/json' };
    const { answer: resumed, turns } = await turnsOf(() =>
      h.weir.call('POST', `${flow}/execute`, { key, raw, headers }),
    );
    assert.equal(resumed.body.status, 'completed', JSON.stringify(resumed.body).slice(0, 500));
    assert.equal(turns.heldMeanwhile, 0);
  });
});
