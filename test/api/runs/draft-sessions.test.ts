// Runs of a draft that go on after their first call: resumes of …/draft/execute, and sessions of …/draft/step.
import assert from 'node:assert/strict';
import { code, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { ASK, type DraftWeir, startDraftWeir } from './draft-harness.ts';

const BROKEN = [code('one', 'return {')];

describe('a run of the draft that goes on', () => {
  let weir: DraftWeir;
  before(async () => {
    weir = await startDraftWeir();
  });
  after(() => weir.stop());

  const first = { executionId: null, stepIndex: 0, message: 'm' };
  const twoSteps = () =>
    weir.createDraft([code('one', 'return message + 1;'), code('two', 'return input + 2;')]);

  it('keeps the draft with which it paused, also when the draft by now is another or unfinished', async () => {
    for (const edited of [[passthrough('before'), ASK], BROKEN]) {
      const { draft } = await weir.createDraft([ASK]);
      const etag = (await weir.call('GET', draft, { key: weir.key })).headers.get('etag') ?? '';
      const resume = await weir.pause(draft);
      await weir.edit(draft, edited);
      weir.models.will(answer('done'));
      const { status, body } = await weir.post(`${draft}/execute`, resume, { 'if-match': etag });
      assert.deepEqual([status, body.status, body.result], [200, 'completed', 'done'], JSON.stringify(body));
    }
  });

  it('is answered again under its Idempotency-Key, whatever the draft is by then', async () => {
    const { draft } = await weir.createDraft([passthrough('one')]);
    const send = () =>
      weir.post(`${draft}/execute`, { message: 'm' }, { 'idempotency-key': 'before-an-edit' });
    const { body } = await send();
    await weir.edit(draft, BROKEN);
    const again = await send();
    assert.deepEqual([again.status, again.body.executionId], [200, body.executionId]);
  });

  it('is stepped through; a step that an edit took away is 400 STALE_TREE', async () => {
    const { draft, flow } = await twoSteps();
    const [started, , completed] = await weir.step(draft, first);
    assert.deepEqual([started?.event, started?.data.version], ['run_started', 0]);
    assert.equal(completed?.data.output, 'm1');
    const { executionId } = started?.data ?? {};
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { one: 'edited' } };
    assert.equal((await weir.step(draft, next)).at(-1)?.data.result, 'edited2');
    await weir.edit(draft, [code('other', 'return 1;'), code('two', 'return input + 2;')]);
    const stale = await weir.post(`${draft}/step`, next);
    assert.deepEqual([stale.status, stale.body.detail.code], [400, 'STALE_TREE']);

    const path = `${flow}/jobs/${executionId}/fork?step=1`;
    const fork = await weir.call('GET', path, { key: weir.key });
    assert.deepEqual([fork.body.version, fork.body.accumulatedOutputs], [0, { one: 'edited' }]);
  });

  it('is stepped on after an edit with the resumeState of its pause', async () => {
    const { draft } = await weir.createDraft([ASK]);
    weir.models.will(callTools([{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]));
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const paused = (await weir.step(draft, { ...first, tools })).at(-1)?.data;
    assert.equal(typeof paused?.resumeState, 'string');
    await weir.edit(draft, [ASK, passthrough('new')]);
    weir.models.will(answer('done'));
    const result = { role: 'tool', tool_call_id: 'a', content: 'it is there' };
    const resume = { ...paused, toolCallMessages: [...paused.toolCallMessages, result], tools };
    assert.equal((await weir.step(draft, resume)).at(-2)?.data.output, 'done');
  });

  it('takes no results for a step from which an edit took its tools: 400 STALE_TREE', async () => {
    const { draft } = await weir.createDraft([ASK]);
    weir.models.will(callTools([{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]));
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const paused = (await weir.step(draft, { ...first, tools })).at(-1)?.data;
    await weir.edit(draft, [{ ...ASK, processor_config: {} } as typeof ASK]);
    const result = { role: 'tool', tool_call_id: 'a', content: 'it is there' };
    const resume = { ...paused, toolCallMessages: [...paused.toolCallMessages, result] };
    const asked = weir.models.calls.length;
    const { status, body } = await weir.post(`${draft}/step`, resume);
    assert.deepEqual([status, body.detail?.code, weir.models.calls.length], [400, 'STALE_TREE', asked]);
  });

  it('tells a reader who comes back to …/draft/step the rest, though the draft is unfinished by then', async () => {
    const { draft } = await twoSteps();
    const events = await weir.step(draft, first);
    await weir.edit(draft, BROKEN);
    const rest = await weir.step(draft, first, { 'last-event-id': events[0]?.id ?? '' });
    assert.deepEqual(rest, events.slice(1));
    const { executionId } = events[0]?.data ?? {};
    const refused = await weir.post(`${draft}/step`, { ...first, executionId });
    assert.deepEqual([refused.status, refused.body.detail.code], [400, 'INVALID_TREE']);
  });

  it('is not resumed at the path of a version, nor a run of a version at that of the draft', async () => {
    const { draft, flow } = await weir.createDraft([ASK]);
    await weir.publish(draft);
    for (const [from, to] of [
      [draft, flow],
      [flow, draft],
    ] as const) {
      const resume = await weir.pause(from);
      const { status, body } = await weir.post(`${to}/execute`, resume);
      assert.deepEqual([status, body.detail?.code], [400, 'EXECUTION_ID_INVALID'], to);
      weir.models.will(answer('done'));
      assert.equal((await weir.post(`${from}/execute`, resume)).body.result, 'done');
    }
  });

  it('is not stepped through at the path of a version, nor a session of a version at that of the draft', async () => {
    const { draft, flow } = await twoSteps();
    await weir.publish(draft);
    for (const [from, to] of [
      [draft, flow],
      [flow, draft],
    ] as const) {
      const [started] = await weir.step(from, first);
      const { executionId } = started?.data ?? {};
      const next = { executionId, stepIndex: 1, accumulatedOutputs: { one: 'x' } };
      for (const id of [undefined, started?.id ?? '']) {
        const headers: Record<string, string> = id === undefined ? {} : { 'last-event-id': id };
        const { status, body } = await weir.post(`${to}/step`, next, headers);
        assert.deepEqual([status, body.detail?.code], [404, 'RUN_NOT_FOUND'], to);
      }
      assert.equal((await weir.step(from, next)).at(-1)?.data.result, 'x2');
    }
  });
});
