import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Socket } from 'node:net';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { code } from '../../blocks.ts';
import { answer, callTools, hang } from '../../fakes/model-server.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import {
  asking,
  type Body,
  CALL_MICROCREDITS,
  detail,
  resultsOf,
  resumeOf,
  TWO_ASKING,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

describe('a resume', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, TWO_ASKING);
  });
  const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed');
  const otherResults = (paused: Body) => resultsOf(paused).map((result) => ({ ...result, content: 'other' }));

  describe('that is sent again', () => {
    it('gets the same answer, asks no model and is billed once', async () => {
      const paused = await h.pauseWithTwo(flow);
      h.models.will(answer('ok'), answer('done'));
      const first = await h.execute(flow, resumeOf(paused));
      // The count is what a lost answer leaves unclear.
      const again = await h.execute(flow, { ...resumeOf(paused), iterationsUsed: undefined });
      assert.deepEqual([again.status, again.body], [200, first.body]);
      assert.deepEqual([replayed(first), replayed(again)], [null, 'true']);
      assert.equal(h.models.calls.length, 3);
      assert.deepEqual(await h.charges(paused.executionId), Array(3).fill(CALL_MICROCREDITS));
    });

    it('gets the same answer in whichever case its executionId is written', async () => {
      const paused = await h.pauseWithTwo(flow);
      h.models.will(answer('ok'), answer('done'));
      const written = { ...resumeOf(paused), executionId: paused.executionId.toUpperCase() };
      const first = await h.execute(flow, written);
      assert.equal(first.body.executionId, paused.executionId);
      const again = await h.execute(flow, resumeOf(paused));
      assert.deepEqual([again.body, replayed(again)], [first.body, 'true']);
    });

    it('gets the pause it led to, also when the run has gone on since', async () => {
      const paused = await h.pauseWithTwo(flow);
      h.models.will(callTools([toolCall('d')]), answer('ok'), answer('x'.repeat(5_000)));
      const first = await h.execute(flow, resumeOf(paused));
      assert.deepEqual((await h.execute(flow, resumeOf(paused))).body, first.body);
      const last = await h.execute(flow, resumeOf(first.body));
      assert.equal(last.body.status, 'completed');
      for (const [resume, expected] of [
        [resumeOf(paused), first.body],
        [resumeOf(first.body), last.body],
      ]) {
        const again = await h.execute(flow, resume);
        assert.deepEqual([again.body, replayed(again)], [expected, 'true']);
      }
      assert.equal(h.models.calls.length, 4);
    });

    it('is another one with another result, step or set of tools', async () => {
      const paused = await h.pauseWithTwo(flow);
      h.models.will(answer('ok'), answer('done'));
      const resume = resumeOf(paused);
      await h.execute(flow, resume);
      for (const other of [
        resumeOf(paused, otherResults(paused)),
        { ...resume, pausedAtStep: 'other' },
        { ...resume, tools: [] },
        { ...resume, accumulatedOutputs: {} },
        { ...resume, block_overrides: { ask: { prompt: 'x' } } },
      ])
        detail(await h.execute(flow, other), 400, 'EXECUTION_ID_INVALID');
    });

    it('at the same time ten times, to two API processes, is one run, one charge and one answer', async () => {
      const paused = await h.pauseWithTwo(flow);
      h.models.will(answer('ok'), answer('done'));
      const second = await startApiProcess(h.weir);
      try {
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            h.execute(flow, resumeOf(paused), { url: index % 2 ? h.weir.url : second.url }),
          ),
        );
        for (const { status, body } of answers) {
          assert.equal(status, 200);
          assert.deepEqual(body, answers[0]?.body);
        }
        assert.equal(answers[0]?.body.result, 'done');
        assert.equal(answers.filter((each) => replayed(each) === null).length, 1);
        assert.equal(h.models.calls.length, 3);
        assert.equal((await h.charges(paused.executionId)).length, 3);
      } finally {
        await second.stop();
      }
    });
  });

  it('with other results, at the same time, is refused: one pause is resumed once', async () => {
    const paused = await h.pauseWithTwo(flow);
    h.models.will(answer('ok'), answer('done'));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        h.execute(
          flow,
          resumeOf(
            paused,
            resultsOf(paused).map((result) => ({ ...result, content: `${index}` })),
          ),
          index % 2 ? { headers: { 'idempotency-key': `${paused.executionId}-${index}` } } : {},
        ),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const refused of answers.filter(({ status }) => status !== 200))
      detail(refused, 400, 'EXECUTION_ID_INVALID');
    assert.equal(h.models.calls.length, 3);
    assert.equal((await h.charges(paused.executionId)).length, 3);
  });

  it('with other results is refused while the first is under way', async () => {
    const paused = await h.pauseWithTwo(flow);
    h.models.will(hang);
    const asked = h.models.nextCall();
    const first = h.execute(flow, resumeOf(paused));
    const response = await asked;
    const other = await h.execute(flow, resumeOf(paused, otherResults(paused)));
    assert.match(detail(other, 400, 'EXECUTION_ID_INVALID').message, /has gone on or ended/);
    const second = h.execute(flow, resumeOf(paused));
    h.models.will(answer('done'));
    answer('ok')(response);
    assert.equal((await first).body.result, 'done');
    assert.deepEqual((await second).body, (await first).body);
  });

  describe('with an Idempotency-Key', () => {
    const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

    it('of the first call answers its pause, also after the run has gone on', async () => {
      h.models.will(
        callTools([toolCall('a')]),
        callTools([toolCall('b')]),
        answer('x'.repeat(5_000)),
        answer('end'),
      );
      const body = { message: 'm', tools: [weather] };
      const first = await h.execute(flow, body, keyed('first'));
      assert.equal(first.body.status, 'tool_calls_required');
      let last: Body = first.body;
      for (;;) {
        const again = await h.execute(flow, body, keyed('first'));
        assert.deepEqual([again.body, replayed(again)], [first.body, 'true']);
        if (last.status === 'completed') break;
        ({ body: last } = await h.execute(flow, resumeOf(last)));
      }
      assert.equal(last.result, 'end');
      assert.equal(h.models.calls.length, 4);
    });

    it('of its own gets its answer again; the key of the first call is another request', async () => {
      h.models.will(callTools([toolCall('a')]), answer('ok'), answer('end'));
      const paused = await h.execute(flow, { message: 'm', tools: [weather] }, keyed('k1'));
      detail(await h.execute(flow, resumeOf(paused.body), keyed('k1')), 409, 'IDEMPOTENCY_KEY_REUSED');
      const first = await h.execute(flow, resumeOf(paused.body), keyed('k2'));
      assert.equal(first.body.result, 'end');
      for (const options of [keyed('k2'), keyed('k3'), {}]) {
        const again = await h.execute(flow, resumeOf(paused.body), options);
        assert.deepEqual([again.body, replayed(again)], [first.body, 'true']);
      }
      assert.equal(h.models.calls.length, 3);
    });

    it('keeps its key when it is refused', async () => {
      const paused = await h.pauseWithTwo(flow);
      detail(await h.execute(flow, resumeOf(paused, []), keyed('free')), 400, 'TOOL_RESULTS_MISMATCH');
      h.models.will(answer('ok'), answer('end'));
      assert.equal((await h.execute(flow, resumeOf(paused), keyed('free'))).body.result, 'end');
    });
  });

  it('from GET …/jobs/{executionId} goes on like one from the answer that was lost', async () => {
    const steps = [code('a', 'return { n: 1 };'), asking('ask')];
    const lost = await h.weir.createFlow(h.tenant, steps);
    h.models.will(callTools([toolCall('a')]), callTools([toolCall('b')]), answer('end'));
    let { body } = await h.execute(lost);
    for (const expected of ['tool_calls_required', 'tool_calls_required']) {
      const found = (await h.read(lost, body.executionId)).body;
      assert.equal(found.status, expected);
      assert.equal(found.finishedAt, null);
      assert.partialDeepStrictEqual(found, body);
      ({ body } = await h.execute(lost, { ...resumeOf(found), resumeState: found.resumeState }));
    }
    assert.equal(body.result, 'end');
    const ended = (await h.read(lost, body.executionId)).body;
    assert.deepEqual([ended.status, ended.result, ended.toolCalls], ['completed', 'end', undefined]);
  });

  it('is carried out when the engine is back: 503 with the executionId, then by the reconciler, once', async () => {
    const [host = '', port = ''] = (process.env.TEST_TEMPORAL_ADDRESS ?? '').split(':');
    const sockets = new Set<Socket>();
    let away = false;
    const proxy = createServer((socket) => {
      if (away) return void socket.destroy();
      const engine = dial(Number(port), host);
      for (const each of [socket, engine]) sockets.add(each.on('error', () => undefined));
      socket.pipe(engine).pipe(socket);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const api = await startApiProcess(h.weir, { TEMPORAL_ADDRESS: address });
    try {
      const paused = await h.pauseWithTwo(flow);
      away = true;
      for (const socket of sockets) socket.destroy();
      const refused = await h.execute(flow, resumeOf(paused), { url: api.url });
      assert.equal(detail(refused, 503, 'ENGINE_UNAVAILABLE').executionId, paused.executionId);
      assert.equal((await h.read(flow, paused.executionId)).body.status, 'started');
      h.models.will(answer('ok'), answer('done'));
      await reconcileRuns({ db: h.weir.db, client: h.weir.client, taskQueue: h.weir.config.taskQueue }, 0);
      const { body } = await h.weir.finish(flow, paused.executionId, h.tenant.key);
      assert.deepEqual([body.status, body.result], ['completed', 'done']);
      const again = await h.execute(flow, resumeOf(paused));
      assert.deepEqual([again.body.result, replayed(again)], ['done', 'true']);
      assert.equal(h.models.calls.length, 3);
      assert.equal((await h.charges(paused.executionId)).length, 3);
    } finally {
      await api.stop();
      proxy.close();
      for (const socket of sockets) socket.destroy();
    }
  });
});
