import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiDeps } from '../../../api/deps.ts';
import { findAcceptedCall } from '../../../api/runs/accept-idempotently.ts';
import { stepEvents } from '../../../api/runs/step-events.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, type FakeModelServer, hang, startFakeModelServer } from '../../fakes/model-server.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import type { SseMessage } from '../../sse.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';

describe('the stream of POST …/step', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  let client: StepClient;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const three = () => weir.createFlow(tenant, [passthrough('a'), code('b', 'return 1;'), passthrough('c')]);
  const whole = { stepIndex: 0, message: 'm', runRemaining: true };
  const since = (id: string | undefined) => ({ headers: { 'last-event-id': id ?? '' } });
  const runs = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;
  const get = async (path: string) => (await weir.call('GET', path, { key: tenant.key })).body;
  /** A session whose second step, of three, waits in its model until `release`. */
  async function stepUntilRelease(more: object = {}) {
    const flow = await weir.createFlow(tenant, [
      passthrough('a'),
      llm('b', 'x', 'demo/chat'),
      passthrough('c'),
    ]);
    const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' }, ...more };
    models.will(hang);
    const asked = models.nextCall();
    const leaving = new AbortController();
    const response = await client.open(flow, call, { signal: leaving.signal });
    const model = await asked;
    const path = `${flow}/jobs/${executionId}`;
    return { flow, path, executionId, call, response, leaving, release: () => answer('done')(model) };
  }

  it('is not buffered or transformed on its way', async () => {
    const { headers, body } = await client.open(await three(), whole);
    await body?.cancel();
    assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-cache, no-transform');
    assert.equal(headers.get('x-accel-buffering'), 'no');
    assert.equal(headers.get('content-length'), null);
    assert.equal(headers.get('content-encoding'), null);
  });

  it('pushes each event when it happens', async () => {
    const { response, release } = await stepUntilRelease({ runRemaining: true });
    const events = client.read(response);
    assert.equal((await events.next()).value?.event, 'block_started');
    release();
    const rest: SseMessage[] = [];
    for await (const event of events) rest.push(event);
    assert.deepEqual(names(rest).slice(0, 2), ['block_completed', 'step_progress']);
    assert.equal(names(rest).at(-1), 'run_completed');
  });

  describe('Last-Event-ID', () => {
    it('gets exactly what was missed, wherever the reader was, and runs nothing', async () => {
      const flow = await three();
      const events = await client.step(flow, whole);
      const { executionId } = only(events, 'run_started');
      const before = await runs();
      for (const [index, { id }] of events.entries())
        for (const body of [whole, { ...whole, executionId }])
          assert.deepEqual(await client.step(flow, body, since(id)), events.slice(index + 1));
      assert.equal(await runs(), before);
    });

    it('gets what was missed and the rest of a call that is under way', async () => {
      const { flow, call, response, leaving, release } = await stepUntilRelease();
      const reading = client.read(response);
      const { value: first } = await reading.next();
      leaving.abort();
      await assert.rejects(reading.next(), { name: 'AbortError' });
      const back = client.read(await client.open(flow, call, since(first?.id)));
      release();
      const rest: SseMessage[] = [];
      for await (const event of back) rest.push(event);
      assert.deepEqual(names(rest), ['block_completed', 'step_paused']);
      const number = (id: string) => Number(id.split(':')[1]);
      assert.deepEqual(
        rest.map(({ id }) => number(id)),
        [2, 3],
      );
    });

    it('gets the rest at another process, too, which runs nothing itself', async () => {
      const { flow, call, response, release } = await stepUntilRelease();
      const second = await startApiProcess(weir);
      try {
        const { value: first } = await client.read(response).next();
        const back = client.read(await client.open(flow, call, { ...since(first?.id), url: second.url }));
        release();
        const rest: SseMessage[] = [];
        for await (const event of back) rest.push(event);
        assert.deepEqual(names(rest), ['block_completed', 'step_paused']);
      } finally {
        await second.stop();
      }
    });

    it('answers 404 for the id of an unknown call, of another session, flow and project', async () => {
      const flow = await three();
      const events = await client.step(flow, { stepIndex: 0, message: 'm' });
      const other = await client.step(flow, { stepIndex: 0, message: 'm' });
      const elsewhere = await client.step(await three(), whole);
      const stranger = await weir.createTenant();
      const theirs = await weir.createFlow(stranger, [passthrough('a')]);
      const foreign = await (await createStepClient(weir, stranger)).step(theirs, whole);
      const { executionId } = only(events, 'run_started');
      const unknown = '00000000-0000-4000-8000-000000000000:1';
      for (const id of [unknown, `${executionId}:1`, other[0]?.id, elsewhere[0]?.id, foreign[0]?.id]) {
        const response = await client.open(flow, { ...whole, executionId }, since(id));
        const body = (await response.json()) as { detail: { code: string } };
        assert.deepEqual([response.status, body.detail.code], [404, 'RUN_NOT_FOUND'], id);
      }
    });

    for (const id of ['1', 'x', `${'-'.repeat(36)}:1`, `${'f'.repeat(36)}:1`, `${'0'.repeat(40)}:1:1`])
      it(`answers 422 for ${id}`, async () => {
        const response = await client.open(await three(), whole, since(id));
        const body = (await response.json()) as { detail: { errors: { field: string }[] } };
        assert.deepEqual([response.status, body.detail.errors[0]?.field], [422, 'Last-Event-ID']);
      });
  });

  describe('a reader', () => {
    it('who leaves stops nothing: the step finishes and is found', async () => {
      const { path, response, leaving, release } = await stepUntilRelease();
      await client.read(response).next();
      leaving.abort();
      assert.equal((await get(path)).status, 'started');
      const watching = fetch(`${weir.url}/api/v1/seq/${path}/events`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      }).then((stream) => stream.text());
      release();
      const text = await watching;
      const keys = [...text.matchAll(/^event: block_completed\ndata: .*"key":"(\w+)"/gm)].map(
        ([, key]) => key,
      );
      assert.deepEqual(keys, ['a', 'b']);
      const { status, blocks } = await get(path);
      assert.deepEqual([status, blocks.length], ['in_progress', 2]);
      const cursor = await get(`${path}/fork?step=2`);
      assert.deepEqual(cursor.accumulatedOutputs, { a: 'm', b: 'done' });
    });

    it('who does not read holds nothing up', async () => {
      const flow = await weir.createFlow(tenant, [
        code('large', 'return "x".repeat(8_000_000);'),
        passthrough('again'),
        code('end', 'return 1;'),
      ]);
      const { hostname, port } = new URL(weir.url);
      const socket = connect(Number(port), hostname).pause();
      await once(socket, 'connect');
      const body = JSON.stringify(whole);
      socket.write(
        `POST /api/v1/seq/${flow}/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket, 'readable');
      const { executionId } = (await get(`${flow}/runs`)).runs[0];
      assert.equal((await weir.finish(flow, executionId, tenant.key)).body.result, 1);
      socket.destroy();
    });

    it('gets heartbeats, also while the end is not recorded yet, until its key is revoked', async () => {
      const { executionId, leaving, release } = await stepUntilRelease();
      leaving.abort();
      const part = await weir.db
        .selectFrom('run')
        .select('execution_id')
        .where('continues', '=', executionId)
        .where('status', '=', 'started')
        .executeTakeFirstOrThrow();
      const run = await findAcceptedCall(weir as never as ApiDeps, part.execution_id);
      assert(run);
      let usable = true;
      const never = new Promise<undefined>(() => undefined);
      const { signal } = new AbortController();
      const events = stepEvents(
        weir as never as ApiDeps,
        run,
        never,
        { mayRead: async () => usable, take: async () => () => undefined, signal },
        0,
      );
      const next = async () => {
        const { value, done } = await events.next();
        return done ? 'end' : typeof value === 'string' ? value : value?.name;
      };
      assert.equal(await next(), 'block_started');
      for (let beats = 0; beats < 2; beats++) assert.equal(await next(), ':\n\n');
      release();
      let name = await next();
      while (name === ':\n\n') name = await next();
      assert.equal(name, 'block_completed');
      assert.equal(await next(), ':\n\n');
      usable = false;
      await assert.rejects(next, { reason: 'unauthorized' });
    });
  });

  it('says that it ends, when its process has waited as long as it may', async () => {
    const other = await startWeir({ worker: false, drainMs: 2_000 });
    const owner = await other.createTenant();
    const reader = await createStepClient(other, owner);
    const flow = await other.createFlow(owner, [passthrough('a')]);
    const events = reader.read(await reader.open(flow, whole));
    const first = (await events.next()).value as SseMessage;
    assert.equal(first.event, 'run_started');
    assert.equal((await events.next()).value?.event, 'block_started');
    const waiting = other.call('POST', `${flow}/execute`, { key: owner.key, body: { message: 'm' } });
    while (
      (await other.db.selectFrom('run').select('mode').where('mode', '=', 'execute').execute()).length === 0
    );
    const stopped = other.stop();
    const { event, data } = (await events.next()).value as SseMessage;
    assert.deepEqual(
      [event, data.executionId, data.reason],
      ['stream_interrupted', first.data.executionId, 'stopping'],
    );
    assert.equal((await events.next()).done, true);
    const cut = await waiting;
    assert.deepEqual([cut.status, cut.body.detail.code], [503, 'SERVICE_STOPPING']);
    assert.match(cut.body.detail.executionId, /^[0-9a-f-]{36}$/);
    await stopped;
  });

  it('tells of a cancellation; the session takes no more calls', async () => {
    const { flow, path, call, response, executionId } = await stepUntilRelease();
    const cancelled = await weir.call('POST', `${path}/cancel`, { key: tenant.key });
    assert.equal(cancelled.status, 202);
    const events: SseMessage[] = [];
    for await (const event of client.read(response)) events.push(event);
    assert.deepEqual(names(events), ['block_started', 'run_failed']);
    assert.equal(only(events, 'run_failed').code, 'CANCELLED');
    for (const body of [call, { executionId, stepIndex: 0, message: 'm' }]) {
      const refused = await weir.call('POST', `${flow}/step`, { key: tenant.key, body });
      assert.deepEqual([refused.status, refused.body.detail.code], [409, 'CONFLICT']);
    }
    const { status, failureReason, blocks } = await get(path);
    assert.deepEqual([status, failureReason, blocks.length], ['failed', 'error', 1]);
  });
});
