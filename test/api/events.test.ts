import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { mintApiKey } from '../../api/api-key.ts';
import { insertApiKey, revokeApiKey } from '../../db/api-keys.ts';
import { recordBlockRun } from '../../db/block-runs.ts';
import { listRecorded } from '../../db/run-events.ts';
import type { Step } from '../../flow/definition.ts';
import { code, llm, passthrough } from '../blocks.ts';
import { answer, type FakeModelServer, hang, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { readEvents, type SseEvent } from '../sse.ts';

describe('GET …/jobs/{executionId}/events', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const start = async (flow: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } })).body.executionId;
  async function run(steps: Step[]) {
    const flow = await weir.createFlow(tenant, steps);
    const executionId = await start(flow);
    return { flow, executionId, body: (await weir.finish(flow, executionId, tenant.key)).body };
  }
  const open = (flow: string, executionId: string, lastEventId?: number | string, signal?: AbortSignal) =>
    fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
      headers: {
        authorization: `Bearer ${tenant.key}`,
        ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
      },
      signal: signal ?? null,
    });
  async function list(flow: string, executionId: string, lastEventId?: number): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for await (const event of readEvents(await open(flow, executionId, lastEventId))) events.push(event);
    return events;
  }
  /** A run that waits in its second block until `release`. */
  async function runUntilRelease() {
    const flow = await weir.createFlow(tenant, [
      passthrough('first'),
      llm('second', 'x', 'demo/chat'),
      passthrough('third'),
    ]);
    models.will(hang);
    const asked = models.nextCall();
    const executionId = await start(flow);
    const response = await asked;
    return { flow, executionId, release: () => answer('done')(response) };
  }

  it('tells a finished run from its start to its end, with each block as GET …/jobs has it', async () => {
    const { flow, executionId, body } = await run([
      code('list', 'return [1, 2];'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 5, body: [passthrough('item')] },
    ]);
    const events = await list(flow, executionId);
    assert.deepEqual(
      events.map(({ event, data }) => [event, data.key]),
      [
        ['run_started', undefined],
        ['block_completed', 'list'],
        ['block_completed', 'item#0'],
        ['block_completed', 'item#1'],
        ['run_completed', undefined],
      ],
    );
    const { result, ...state } = body;
    assert.deepEqual(
      events.slice(1, -1).map(({ data }) => data),
      state.blocks,
    );
    assert.deepEqual(events.at(-1)?.data, state);
    assert.deepEqual([events[0]?.data.status, events[0]?.data.executionId], ['started', executionId]);
    for (const [index, { id }] of events.entries()) assert(index === 0 || id > (events[index - 1]?.id ?? 0));
  });

  it('tells block_failed and run_failed', async () => {
    const { flow, executionId } = await run([code('bad', 'throw new Error("no")')]);
    const [, block, end, ...rest] = await list(flow, executionId);
    assert.deepEqual([block?.event, block?.data.key], ['block_failed', 'bad']);
    assert.match(block?.data.errorMessage, /no/);
    assert.deepEqual([end?.event, end?.data.failureReason], ['run_failed', 'error']);
    assert.deepEqual(rest, []);
  });

  it('pushes what happens while the run goes on, then ends', async () => {
    const { flow, executionId, release } = await runUntilRelease();
    const events = readEvents(await open(flow, executionId));
    const next = async () => (await events.next()).value as SseEvent;
    assert.equal((await next()).event, 'run_started');
    assert.equal((await next()).data.key, 'first');
    release();
    assert.equal((await next()).data.key, 'second');
    assert.equal((await next()).data.key, 'third');
    assert.equal((await next()).event, 'run_completed');
    assert.equal((await events.next()).done, true);
  });

  it('goes on after Last-Event-ID, wherever the reader was, and answers 204 when it has everything', async () => {
    const { flow, executionId } = await run([passthrough('a'), passthrough('b')]);
    const events = await list(flow, executionId);
    assert.equal(events.length, 4);
    for (const [index, { id }] of events.slice(0, -1).entries())
      assert.deepEqual(await list(flow, executionId, id), events.slice(index + 1));
    assert.equal((await open(flow, executionId, events.at(-1)?.id)).status, 204);

    const empty = await run([]);
    const [first, end] = await list(empty.flow, empty.executionId);
    assert.deepEqual(await list(empty.flow, empty.executionId, first?.id), [end]);
    assert.equal((await open(empty.flow, empty.executionId, end?.id)).status, 204);
  });

  it('is not buffered or transformed on its way', async () => {
    const { flow, executionId } = await run([]);
    const { headers, body } = await open(flow, executionId);
    await body?.cancel();
    assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-cache, no-transform');
    assert.equal(headers.get('x-accel-buffering'), 'no');
  });

  for (const value of ['-1', 'x', '1.5', '9'.repeat(20)])
    it(`answers 422 for Last-Event-ID: ${value}`, async () => {
      const { flow, executionId } = await run([]);
      const response = await open(flow, executionId, value);
      assert.equal(response.status, 422);
      const { detail } = (await response.json()) as { detail: { errors: { field: string }[] } };
      assert.equal(detail.errors[0]?.field, 'Last-Event-ID');
    });

  it('goes on without a reader who left, and tells them the rest when they are back', async () => {
    const { flow, executionId, release } = await runUntilRelease();
    const leaving = new AbortController();
    const events = readEvents(await open(flow, executionId, undefined, leaving.signal));
    const seen = [(await events.next()).value, (await events.next()).value] as SseEvent[];
    leaving.abort();
    await assert.rejects(events.next(), { name: 'AbortError' });
    release();
    await weir.finish(flow, executionId, tenant.key);
    const rest = await list(flow, executionId, seen.at(-1)?.id);
    assert.deepEqual(
      rest.map(({ data }) => data.key),
      ['second', 'third', undefined],
    );
  });

  it('is not held up by a reader who does not read', async () => {
    const { flow, executionId } = await run(
      Array.from({ length: 40 }, (_, index) => passthrough(`b${index}`, { name: 'n'.repeat(200) })),
    );
    const { hostname, port } = new URL(weir.url);
    const socket = connect(Number(port), hostname).pause();
    await once(socket, 'connect');
    socket.write(
      `GET /api/v1/seq/${flow}/jobs/${executionId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`,
    );
    assert.equal((await list(flow, executionId)).length, 42);
    socket.destroy();
  });

  it('withholds what was recorded after something that is not visible yet, so that no reader misses it', async () => {
    const { executionId, body } = await run([passthrough('a')]);
    await weir.db
      .updateTable('run')
      .set({ status: 'started' })
      .where('execution_id', '=', executionId)
      .execute();
    const { blocks } = await listRecorded(weir.db, executionId, 0n);
    assert.equal(blocks.length, body.blocks.length);
    const last = BigInt(blocks.at(-1)?.recorded ?? 0);
    const record = (db: Weir['db'], blockKey: string) =>
      recordBlockRun(db, tenant.organizationId, {
        executionId,
        blockKey,
        stepId: blockKey,
        name: blockKey,
        processorType: 'passthrough',
        input: { ref: '$message' },
        output: '1',
        attempts: 1,
        startedAt: new Date(),
      });
    await weir.db.transaction().execute(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx);
      await record(weir.db, 'late');
      assert.deepEqual((await listRecorded(weir.db, executionId, last)).blocks, []);
      await record(tx, 'early');
    });
    const after = await listRecorded(weir.db, executionId, last);
    assert.deepEqual(
      after.blocks.map((block) => block.block_key),
      ['early', 'late'],
    );
    await weir.db
      .updateTable('run')
      .set({ status: 'completed' })
      .where('execution_id', '=', executionId)
      .execute();
  });

  it('beats while nothing happens, and ends there for a key that was revoked', async () => {
    const { flow, executionId, release } = await runUntilRelease();
    const { plaintext, keyId, secretHmac } = mintApiKey('live', weir.config.apiKeyPepper);
    const { projectId } = tenant;
    await insertApiKey(weir.db, { projectId, keyId, environment: 'live', name: 'leaves', secretHmac });
    const revoked = readEvents(
      await fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
        headers: { authorization: `Bearer ${plaintext}` },
      }),
    );
    await revokeApiKey(weir.db, projectId, keyId);
    const { body } = await open(flow, executionId);
    assert(body);
    const chunks = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.endsWith('\n\n:\n\n'); ) {
      const { value, done } = await chunks.read();
      assert(!done);
      text += value;
    }
    await chunks.cancel();
    const names: string[] = [];
    for await (const { event } of revoked) names.push(event);
    assert.deepEqual(names, ['run_started', 'block_completed']);
    release();
    await weir.finish(flow, executionId, tenant.key);
  });

  it('ends when the process stops, so that the reader goes on elsewhere', async () => {
    const other = await startWeir({ worker: false });
    const owner = await other.createTenant();
    const flow = await other.createFlow(owner, [passthrough('a')]);
    const { executionId } = (
      await other.call('POST', `${flow}/jobs`, { key: owner.key, body: { message: '' } })
    ).body;
    const events = readEvents(
      await fetch(`${other.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
        headers: { authorization: `Bearer ${owner.key}` },
      }),
    );
    assert.equal((await events.next()).value?.event, 'run_started');
    const stopped = other.stop();
    assert.equal((await events.next()).done, true);
    await stopped;
  });
});
