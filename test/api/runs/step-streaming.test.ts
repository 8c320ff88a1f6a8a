import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiDeps } from '../../../api/deps.ts';
import { findAcceptedCall } from '../../../api/runs/calls/accept-idempotently.ts';
import { stepEvents } from '../../../api/runs/step-events.ts';
import { createUpdates } from '../../../api/runs/updates.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { createFairQueue } from '../../../platform/limits/fair-queue.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { code, passthrough } from '../../blocks.ts';
import { watchStatements } from '../../db/watch-statements.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import type { SseMessage } from '../../sse.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';
import { readRest, type StepStreams, startStepStreams, WHOLE } from './step-streams-harness.ts';

/** Polls for updates, up to four a second, during which the stream reads nothing. */
const QUIET_LOOKS = 6;

describe('the stream of POST …/step', () => {
  let streams: StepStreams;
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  let stepUntilRelease: StepStreams['stepUntilRelease'];
  before(async () => {
    streams = await startStepStreams();
    ({ weir, tenant, client, stepUntilRelease } = streams);
  });
  after(() => streams.stop());

  const find = (callId: string) =>
    findAcceptedCall({ db: weir.db, definitions: createFlowDefinitions(weir.db) }, callId);
  const three = () => weir.createFlow(tenant, [passthrough('a'), code('b', 'return 1;'), passthrough('c')]);

  it('is not buffered or transformed on its way', async () => {
    const { headers, body } = await client.open(await three(), WHOLE);
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
    const rest = await readRest(events);
    assert.deepEqual(names(rest).slice(0, 2), ['block_completed', 'step_progress']);
    assert.equal(names(rest).at(-1), 'run_completed');
  });

  describe('a reader', () => {
    it('who leaves stops nothing: the step finishes and is found', async () => {
      const { path, response, leaving, release } = await stepUntilRelease();
      await client.read(response).next();
      leaving.abort();
      assert.equal((await streams.get(path)).status, 'started');
      const watching = fetch(`${weir.url}/api/v1/seq/${path}/events`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      }).then((stream) => stream.text());
      release();
      const text = await watching;
      const keys = [...text.matchAll(/^event: block_completed\ndata: .*"key":"(\w+)"/gm)].map(
        ([, key]) => key,
      );
      assert.deepEqual(keys, ['a', 'b']);
      const { status, blocks } = await streams.get(path);
      assert.deepEqual([status, blocks.length], ['in_progress', 2]);
      const cursor = await streams.get(`${path}/fork?step=2`);
      assert.deepEqual(cursor.accumulatedOutputs, { a: 'm', b: 'done' });
    });

    it('who does not read holds nothing up', async () => {
      const flow = await weir.createFlow(tenant, [
        code('large', 'return "x".repeat(4_000_000);'),
        passthrough('again'),
        code('end', 'return 1;'),
      ]);
      const { hostname, port } = new URL(weir.url);
      const socket = connect(Number(port), hostname).pause();
      await once(socket, 'connect');
      const body = JSON.stringify(WHOLE);
      socket.write(
        `POST /api/v1/seq/${flow}/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket, 'readable');
      const { executionId } = (await streams.get(`${flow}/runs`)).runs[0];
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
      const run = await find(part.execution_id);
      assert(run);
      let usable = true;
      const never = new Promise<undefined>(() => undefined);
      const { signal } = new AbortController();
      const events = stepEvents(
        { ...weir, registry: createRegistry() } as never as ApiDeps,
        createUpdates(weir.db),
        run,
        never,
        {
          organizationId: 'a',
          mayRead: async () => usable,
          reserve: async () => createFairQueue({ capacity: 1 }).acquire(''),
          signal,
        },
        0,
      );
      const next = async () => {
        const { value, done } = await events.next();
        return done ? 'end' : typeof value === 'string' ? value : value?.name;
      };
      assert.equal(await next(), 'block_started');
      for (let beats = 0; beats < 2; beats++) assert.equal(await next(), ':\n');
      release();
      let name = await next();
      while (name === ':\n') name = await next();
      assert.equal(name, 'block_completed');
      assert.equal(await next(), ':\n');
      usable = false;
      await assert.rejects(next, { reason: 'unauthorized' });
    });
  });

  it('does not read its blocks while they have no updates', async () => {
    const { executionId, leaving, release } = await stepUntilRelease();
    leaving.abort();
    const { execution_id: callId } = await weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('continues', '=', executionId)
      .where('status', '=', 'started')
      .executeTakeFirstOrThrow();
    const run = await find(callId);
    assert(run);
    let looks = 0;
    const quiet = Promise.withResolvers<void>();
    const db = watchStatements(weir.db, () => {
      looks = 0;
    });
    const looked = watchStatements(weir.db, () => {
      looks += 1;
      if (looks === QUIET_LOOKS) quiet.resolve();
    });
    const never = new Promise<undefined>(() => undefined);
    const reading = new AbortController();
    const events = stepEvents(
      { ...weir, db, registry: createRegistry() } as never as ApiDeps,
      createUpdates(looked),
      run,
      never,
      {
        organizationId: 'a',
        mayRead: async () => true,
        reserve: async () => createFairQueue({ capacity: 1 }).acquire(''),
        signal: reading.signal,
      },
    );
    await events.next();
    const next = events.next();
    next.catch(() => undefined);
    // Not the stream's first looks, at the block that is under way. One that looks all the time is never quiet.
    await quiet.promise;
    release();
    assert.equal(((await next).value as { name: string }).name, 'block_completed');
    reading.abort();
  });

  it('says that it ends, when its process has waited as long as it may', async () => {
    const other = await startWeir({ worker: false, drainMs: 2_000 });
    const owner = await other.createTenant();
    const reader = await createStepClient(other, owner);
    const flow = await other.createFlow(owner, [passthrough('a')]);
    const events = reader.read(await reader.open(flow, WHOLE));
    const first = (await events.next()).value as SseMessage;
    assert.equal(first.event, 'run_started');
    assert.equal((await events.next()).value?.event, 'block_started');
    const accepted = nextStart(other.client.workflow);
    const waiting = other.call('POST', `${flow}/execute`, { key: owner.key, body: { message: 'm' } });
    await accepted;
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
    const events = await readRest(client.read(response));
    assert.deepEqual(names(events), ['block_started', 'run_failed']);
    assert.equal(only(events, 'run_failed').code, 'CANCELLED');
    for (const body of [call, { executionId, stepIndex: 0, message: 'm' }]) {
      const refused = await weir.call('POST', `${flow}/step`, { key: tenant.key, body });
      assert.deepEqual([refused.status, refused.body.detail.code], [409, 'CONFLICT']);
    }
    const { status, failureReason, blocks } = await streams.get(path);
    const completed = blocks.filter((block: { status: string }) => block.status === 'completed');
    assert.deepEqual([status, failureReason, completed.length], ['failed', 'error', 1]);
  });
});

/** Resolves when the next workflow has been started. */
function nextStart(workflow: Weir['client']['workflow']): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = workflow.start;
    workflow.start = (...args: Parameters<typeof start>) => {
      const started = start.apply(workflow, args);
      started.then(() => resolve(), reject);
      return started;
    };
  });
}
