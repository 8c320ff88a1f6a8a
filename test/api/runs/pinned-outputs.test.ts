// The author of a draft pins outputs of blocks: a run of the draft has them in place of running these blocks.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { type DraftWeir, startDraftWeir } from './draft-harness.ts';

describe('a pinned output', () => {
  let weir: DraftWeir;
  before(async () => {
    weir = await startDraftWeir();
  });
  after(() => weir.stop());

  const ask = llm('ask', '{{message}}', 'demo/chat');
  const count = code('count', 'return [input.length, outputs.ask]');

  async function run(steps: Step[], pinned_outputs: object) {
    const { draft, flow } = await weir.createDraft(steps);
    const { status, body } = await weir.post(`${draft}/runs`, { message: 'm', pinned_outputs });
    assert.equal(status, 202, JSON.stringify(body));
    const { executionId } = body;
    const ended = (await weir.finish(flow, executionId, weir.key)).body;
    const get = async (key: string) =>
      (await weir.call('GET', `${flow}/jobs/${executionId}/blocks/${key}`, { key: weir.key })).body;
    return { ended, get };
  }

  it('takes the place of a block, which is not run, sends nothing and costs nothing', async () => {
    const asked = weir.models.calls.length;
    const { ended, get } = await run([ask, count], { ask: 'four' });
    assert.deepEqual([ended.status, ended.result, ended.cost], ['completed', [4, 'four'], 0]);
    assert.equal(weir.models.calls.length, asked);
    const block = await get('ask');
    assert.deepEqual(
      [block.status, block.pinned, block.output, block.sent, block.usage.cost, block.input],
      ['completed', true, 'four', null, 0, 'm'],
    );
    assert.equal((await get('count')).pinned, undefined);
  });

  it('takes the place of a block in a branch, and in every iteration of a loop', async () => {
    const loop: Step = { type: 'loop', step_id: 'each', name: 'each', max_iterations: 10, body: [ask] };
    const both: Step = {
      ...{ type: 'parallel', step_id: 'both', name: 'both' },
      branches: { a: [llm('left', 'x', 'demo/chat')], b: [passthrough('right')] },
    };
    const { ended } = await run([code('list', 'return [1, 2]'), loop, both], { ask: { n: 1 }, left: null });
    assert.deepEqual(ended.result, { a: null, b: [{ n: 1 }, { n: 1 }] });
  });

  it('fails its block unless it matches the output schema', async () => {
    const { ended, get } = await run([{ ...ask, outputSchema: { type: 'object' } } as Step], { ask: 'text' });
    assert.equal(ended.status, 'failed');
    const block = await get('ask');
    assert.deepEqual([block.pinned, block.code, block.usage.cost], [true, ended.code, 0]);
    assert.match(block.errorMessage, /output/);
  });

  it('takes the place of a block in a call of a session, and not in the next call without it', async () => {
    const { draft } = await weir.createDraft([code('one', 'return 1'), code('two', 'return input + 1')]);
    const first = { executionId: null, stepIndex: 0, message: 'm', pinnedOutputs: { one: 41 } };
    const events = await weir.step(draft, { ...first, runRemaining: true });
    assert.equal(events.at(-1)?.data.result, 42);
    const { executionId } = events[0]?.data ?? {};
    const again = await weir.step(draft, { executionId, stepIndex: 0, message: 'm', runRemaining: true });
    assert.equal(again.at(-1)?.data.result, 2);
  });

  it('of no block of the draft is 422, which names it', async () => {
    const { draft } = await weir.createDraft([ask]);
    const { status, body } = await weir.post(`${draft}/runs`, { message: 'm', pinned_outputs: { gone: 1 } });
    assert.equal(status, 422);
    assert.deepEqual(body.detail.errors[0]?.field, 'pinned_outputs.gone');
  });

  it('of more than 4 MiB is 422', async () => {
    const { draft } = await weir.createDraft([ask]);
    const large = 'x'.repeat(4 * 1024 * 1024);
    const { status, body } = await weir.post(`${draft}/runs`, {
      message: 'm',
      pinned_outputs: { ask: large },
    });
    assert.deepEqual([status, body.detail.errors?.[0]?.field], [422, 'pinned_outputs']);
  });

  it('is refused by runs of published versions', async () => {
    const { draft, flow } = await weir.createDraft([ask]);
    await weir.publish(draft);
    for (const [path, body] of [
      ['jobs', { message: 'm', pinned_outputs: { ask: 1 } }],
      ['execute', { message: 'm', pinned_outputs: { ask: 1 } }],
      ['step', { executionId: null, stepIndex: 0, message: 'm', pinnedOutputs: { ask: 1 } }],
    ] as const) {
      const { status } = await weir.post(`${flow}/${path}`, body);
      assert.ok(status === 400 || status === 422, `${path}: ${status}`);
    }
  });
});
