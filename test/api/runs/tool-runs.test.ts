import assert from 'node:assert/strict';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { findRun } from '../../../db/runs/runs.ts';
import { code } from '../../blocks.ts';
import { createOperator } from '../../cli/operator-cli.ts';
import { answer, callTools, hang } from '../../fakes/model-server.ts';
import { readEvents } from '../../sse.ts';
import {
  asking,
  type Body,
  CALL_MICROCREDITS,
  detail,
  resumeOf,
  toolCall,
  useToolCalls,
} from './tool-calls-harness.ts';

describe('a run that pauses for tools', () => {
  const h = useToolCalls();
  let flow: string;
  beforeEach(async () => {
    flow = await h.weir.createFlow(h.tenant, [
      code('first', 'return { n: 1 };'),
      asking('ask'),
      code('last', 'return input + "!";'),
    ]);
  });
  const pause = () => {
    h.models.will(callTools([toolCall('a')]));
    return h.pause(flow);
  };
  const list = async (query = '') =>
    (await h.weir.call('GET', `${flow}/runs${query}`, { key: h.tenant.key })).body.runs;
  async function events(executionId: string, after?: number): Promise<Body> {
    const response = await fetch(`${h.weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
      headers: {
        authorization: `Bearer ${h.tenant.key}`,
        ...(after !== undefined && { 'last-event-id': String(after) }),
      },
    });
    if (response.status === 204) return 204;
    const read: Body[] = [];
    for await (const event of readEvents(response)) read.push(event);
    return read;
  }
  const names = (read: Body) => read.map(({ event, data }: Body) => [event, data.key]);

  it('is one run of the list throughout, with the status it has now and all that it cost', async () => {
    const paused = await pause();
    const { executionId } = paused;
    const [run, ...none] = await list();
    assert.deepEqual(none, []);
    assert.partialDeepStrictEqual(run, { executionId, status: 'tool_calls_required', finishedAt: null });
    h.models.will(hang);
    const asked = h.models.nextCall();
    const resumed = h.execute(flow, resumeOf(paused));
    const response = await asked;
    assert.deepEqual(await list('?status=tool_calls_required'), []);
    assert.equal((await list('?status=started'))[0].executionId, executionId);
    const { body: underWay } = await h.read(flow, executionId);
    assert.deepEqual([underWay.status, underWay.toolCalls], ['started', undefined]);
    answer('done')(response);
    await resumed;
    const runs = await list();
    assert.equal(runs.length, 1);
    assert.partialDeepStrictEqual(runs[0], { executionId, status: 'completed', mode: 'execute' });
    assert.equal(runs[0].cost, (2 * CALL_MICROCREDITS) / 1_000_000);
    assert(runs[0].durationMs > 0);
  });

  it('streams up to its pause, and the rest after it was resumed, each event once', async () => {
    const paused = await pause();
    const { executionId } = paused;
    const before = await events(executionId);
    assert.deepEqual(names(before), [
      ['run_started', undefined],
      ['block_completed', 'first'],
      ['block_paused', 'ask'],
      ['run_tool_calls_required', undefined],
    ]);
    const { id: last } = before.at(-1);
    assert.equal(await events(executionId, last), 204);
    h.models.will(answer('done'));
    await h.execute(flow, resumeOf(paused));
    const rest = [
      ['block_completed', 'ask'],
      ['block_completed', 'last'],
      ['run_completed', undefined],
    ];
    assert.deepEqual(names(await events(executionId, last)), rest);
    assert.deepEqual(names(await events(executionId)), [...names(before).slice(0, 3), ...rest]);
    for (const { event, data } of before)
      if (event.startsWith('run_')) assert.equal(data.executionId, executionId);
  });

  it('streams on while a resume is under way', async () => {
    const paused = await pause();
    h.models.will(hang);
    const asked = h.models.nextCall();
    const resumed = h.execute(flow, resumeOf(paused));
    const response = await asked;
    const read = events(paused.executionId);
    answer('done')(response);
    assert.equal((await read).at(-1).event, 'run_completed');
    await resumed;
  });

  it('is forked at any step before its pause, and at every step once it has ended', async () => {
    const paused = await pause();
    const { executionId } = paused;
    const fork = (step: number) => h.read(flow, executionId, `/fork?step=${step}`);
    const first = { n: 1 };
    assert.deepEqual((await fork(1)).body.accumulatedOutputs, { first });
    assert.equal(detail(await fork(2), 409, 'CONFLICT').step_id, 'ask');
    h.models.will(answer('done'));
    const mended = { first: 'mended' };
    await h.execute(flow, { ...resumeOf(paused), accumulatedOutputs: mended });
    const { body } = await fork(2);
    assert.deepEqual(body.accumulatedOutputs, { ...mended, ask: 'done' });
    assert.deepEqual([body.stepIndex, body.message], [2, 'Paris?']);
  });

  it('is shown by weir runs show, paused and resumed', async () => {
    const { succeed, succeedJson } = await createOperator(h.weir);
    const show = (executionId: string) => succeed('runs', 'show', executionId);
    const paused = await pause();
    const { executionId } = paused;
    assert.match(await show(executionId), /\ntool_calls_required, execute(.|\n)*\nask .*paused/);
    h.models.will(answer('done'));
    await h.execute(flow, resumeOf(paused));
    const text = await show(executionId);
    assert.match(text, /\ncompleted, execute/);
    assert.match(text, /Result: "done!"/);
    const { blocks, result, cost } = await succeedJson('runs', 'show', executionId);
    assert.deepEqual(
      blocks.map(({ key, status }: Body) => `${key} ${status}`),
      ['first completed', 'ask paused', 'ask completed', 'last completed'],
    );
    assert.deepEqual([result, cost], ['done!', (2 * CALL_MICROCREDITS) / 1_000_000]);
  });

  describe('and is cancelled', () => {
    const cancel = (executionId: string) =>
      h.weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: h.tenant.key });
    async function isOver(paused: Body) {
      const { body } = await h.read(flow, paused.executionId);
      assert.deepEqual([body.status, body.failureReason, body.toolCalls], ['failed', 'error', undefined]);
      const asked = h.models.calls.length;
      detail(await h.execute(flow, resumeOf(paused)), 400, 'EXECUTION_ID_INVALID');
      assert.equal(h.models.calls.length, asked);
      assert.deepEqual(await list('?status=tool_calls_required'), []);
    }

    it('ends at once; it cannot be resumed, and nothing more is charged', async () => {
      const paused = await pause();
      const { status, body } = await cancel(paused.executionId);
      assert.deepEqual([status, body.status], [202, 'failed']);
      assert.equal((await cancel(paused.executionId)).status, 200);
      await isOver(paused);
      assert.deepEqual(await h.charges(paused.executionId), [CALL_MICROCREDITS]);
      assert.equal((await events(paused.executionId)).at(-1).event, 'run_failed');
    });

    it('at its second pause ends as at its first', async () => {
      const first = await pause();
      h.models.will(callTools([toolCall('b')]));
      const resumed = resumeOf(first);
      const keyed = { headers: { 'idempotency-key': first.executionId } };
      const { body: second } = await h.execute(flow, resumed, keyed);
      await cancel(first.executionId);
      await isOver(second);
      assert.equal((await h.charges(first.executionId)).length, 2);
      for (const again of [await h.execute(flow, resumed, keyed), await h.execute(flow, resumed)])
        assert.deepEqual([again.status, again.body.status, again.body.code], [200, 'failed', 'CANCELLED']);
    });

    it('while a resume is under way has its model call aborted, and is not charged for it', async () => {
      const paused = await pause();
      h.models.will(hang);
      const asked = h.models.nextCall();
      const resumed = h.execute(flow, resumeOf(paused));
      const response = await asked;
      const hungUp = new Promise((resolve) => response.once('close', resolve));
      assert.equal((await cancel(paused.executionId)).status, 202);
      await hungUp;
      const { body } = await resumed;
      assert.deepEqual([body.status, body.executionId], ['failed', paused.executionId]);
      const { body: state } = await h.read(flow, paused.executionId);
      assert.deepEqual([state.status, state.errorMessage], ['failed', 'The run was cancelled.']);
      assert.deepEqual(await h.charges(paused.executionId), [CALL_MICROCREDITS]);
    });

    it('at the same moment as it is resumed, has the resume refused or cancelled with it', async () => {
      for (let round = 0; round < 5; round++) {
        const paused = await pause();
        const { executionId } = paused;
        h.models.will(answer('done'));
        const [resumed] = await Promise.all([
          h.execute(flow, resumeOf(paused)),
          requestCancel(h.weir.db, executionId),
        ]);
        if (resumed.status !== 200) detail(resumed, 400, 'EXECUTION_ID_INVALID');
        const { body } = await h.weir.finish(flow, executionId, h.tenant.key);
        const parts = await h.weir.db
          .selectFrom('run')
          .select(['status', 'cancel_requested_at'])
          .where('continues', '=', executionId)
          .execute();
        assert.equal(parts.length, resumed.status === 200 ? 1 : 0);
        for (const part of parts)
          assert.equal(part.cancel_requested_at === null, body.status === 'completed');
        const paid = body.blocks.filter(({ usage }: Body) => usage.cost > 0);
        assert.equal((await h.charges(executionId)).length, paid.length);
        h.models.forget();
      }
    });
  });

  it('does not show another flow what it waits for', async () => {
    const paused = await pause();
    const other = await h.weir.createFlow(h.tenant, []);
    detail(await h.read(other, paused.executionId), 404, 'RUN_NOT_FOUND');
    const row = await findRun(h.weir.db, paused.flowId, paused.executionId);
    assert.equal(row?.pause?.step_id, 'ask');
  });
});
