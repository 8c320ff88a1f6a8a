import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import pg from 'pg';
import { createRequestModelKeys, type RequestModelKeys } from '../../activities/request-model-keys.ts';
import { connect, type Db } from '../../db/connect.ts';
import { createNotifications } from '../../db/notifications.ts';
import { finishRun } from '../../db/runs/runs.ts';
import { CANCELLED } from '../../flow/run.ts';
import type { EncryptionKey } from '../../platform/secrets/encrypt.ts';
import { captureLog } from '../capture-log.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { startTcpProxy } from '../fakes/tcp-proxy.ts';
import { waitUntil } from '../wait-until.ts';

const SECRET = 'sk-of-a-request';
/** The organization whose keys they are. */
const OWNER = randomUUID();
/** Asks again sooner than the service does. */
const SOON_MS = 250;
const SIGNAL = new AbortController().signal;

/** Tells the characters of the parameters of each statement. */
function measureStatements(db: Db, measure: (chars: number) => void): void {
  const executor = db.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  mock.method(executor, 'executeQuery', (query: Parameters<typeof execute>[0]) => {
    measure(JSON.stringify(query.parameters).length);
    return execute(query);
  });
}

describe('model keys of requests', () => {
  let database: TestDatabase;
  const open = new Set<() => Promise<void>>();
  before(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    mock.timers.reset();
    mock.restoreAll();
    for (const close of open) await close();
    open.clear();
  });
  after(() => database.drop());

  /** One that works as in a process of its own; `kill`: it answers nobody any more. */
  function start(
    key = 'k',
    databaseUrl = database.url,
    askAgainMs?: number,
    measure: (chars: number) => void = () => undefined,
  ): RequestModelKeys & { end(): Promise<void>; kill(): Promise<void> } {
    const db = connect(database.url, 1);
    measureStatements(db, measure);
    const secretsKeys: [EncryptionKey] = [{ id: 'one', key: Buffer.alloc(32, key) }];
    const notifications = createNotifications(databaseUrl);
    const keys = createRequestModelKeys(db, notifications, { secretsKeys }, askAgainMs);
    const end = async () => {
      open.delete(end);
      await keys.close();
      await notifications.close();
      await db.destroy();
    };
    open.add(end);
    return { ...keys, end, kill: () => db.destroy() };
  }

  it('are found by a process that ran when they came, and by one that started later', async () => {
    const run = randomUUID();
    const [api, worker] = [start(), start()];
    const asked = worker.find(run, 'demo', SIGNAL);
    await api.hold(OWNER, run, { demo: SECRET, openai: 'sk-other' });
    assert.equal(await asked, SECRET);
    assert.equal(await start().find(run, 'openai', SIGNAL), 'sk-other');
  });

  it('outlive the process that accepted them, which hands its keys over when it ends', async () => {
    const run = randomUUID();
    const [api, worker] = [start(), start()];
    await api.hold(OWNER, run, { demo: SECRET });
    await worker.find(run, 'demo', SIGNAL);
    const handedOver = randomUUID();
    await api.hold(OWNER, handedOver, { demo: 'sk-handed-over' });
    await api.end();
    const later = start();
    assert.equal(await later.find(run, 'demo', SIGNAL), SECRET);
    await worker.end();
    assert.equal(await later.find(handedOver, 'demo', SIGNAL), 'sk-handed-over');
  });

  it('are asked for until answers can be heard: an outage is not a reason for MODEL_KEY_GONE', async () => {
    const run = randomUUID();
    await start().hold(OWNER, run, { demo: SECRET });
    const proxy = await startTcpProxy(database.url);
    await proxy.refuse();
    const witness = new pg.Client({ connectionString: database.url });
    await witness.connect();
    await witness.query('listen weir_request_keys');
    const asked = new Promise<void>((resolve) => {
      let questions = 0;
      witness.on('notification', ({ payload = '' }) => {
        if (payload.includes(run) && payload.includes('wanted') && ++questions > 11) resolve();
      });
    });
    const found = start('k', proxy.url, SOON_MS).find(run, 'demo', SIGNAL);
    await Promise.race([asked, found]);
    await proxy.restore();
    assert.equal(await found, SECRET);
    await witness.end();
    await proxy.close();
  });

  it('of a run under way are held by a process that starts later, for when the others are killed', async () => {
    const { runs } = await openAccount(database.db, 100, 1);
    const run = runs[0] as string;
    await database.db
      .updateTable('run')
      .set({ model_key_providers: ['demo'] })
      .execute();
    const api = start();
    await api.hold(OWNER, run, { demo: SECRET });
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    await listener.query('listen weir_request_keys');
    const answered = new Promise<void>((resolve) =>
      listener.on('notification', ({ payload = '' }) => payload.includes('sealed') && resolve()),
    );
    const later = start();
    await answered;
    await listener.end();
    await api.kill();
    assert.equal(await later.find(run, 'demo', SIGNAL), SECRET);
  });

  it('pass between processes encrypted, and are in no table', async () => {
    const run = randomUUID();
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    const payloads: string[] = [];
    listener.on('notification', ({ payload = '' }) => payloads.push(payload));
    await listener.query('listen weir_request_keys');
    await start().hold(OWNER, run, { demo: SECRET });
    await start().find(run, 'demo', SIGNAL);
    await listener.query('select 1');
    await listener.end();
    assert.ok(payloads.length > 0);
    for (const payload of payloads) {
      assert.ok(!payload.includes(SECRET) && !payload.includes(btoa(SECRET)), payload);
      const { sealed } = JSON.parse(payload);
      if (sealed) assert.match(sealed, /^one:/);
    }
  });

  it('are gone when their run has ended, in every process: MODEL_KEY_GONE', async () => {
    const { runs } = await openAccount(database.db, 100, 2);
    const [ended, underWay] = runs as [string, string];
    mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
    const api = start();
    await api.hold(OWNER, ended, { demo: SECRET });
    await api.hold(OWNER, underWay, { demo: SECRET });
    await finishRun(database.db, ended, { status: 'failed', error: CANCELLED });
    mock.timers.tick(60_001);
    mock.timers.tick(60_001);
    mock.timers.reset();
    const worker = start();
    assert.equal(await worker.find(underWay, 'demo', SIGNAL), SECRET);
    const asking = start('k', database.url, SOON_MS);
    await assert.rejects(asking.find(ended, 'demo', SIGNAL), {
      code: 'MODEL_KEY_GONE',
      message: /Send the request again/,
    });
  });

  it('are dropped in every process when their call is not stored after all', async () => {
    const [first, refused, later, last] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const [api, worker] = [start(), start()];
    await api.hold(OWNER, first, { demo: SECRET });
    await worker.find(first, 'demo', SIGNAL);
    await api.hold(OWNER, refused, { demo: SECRET });
    api.drop(refused);
    // Notices come in order: whoever has heard these has heard those before.
    await api.hold(OWNER, later, { demo: SECRET });
    await worker.find(later, 'demo', SIGNAL);
    await worker.hold(OWNER, last, { demo: SECRET });
    await api.find(last, 'demo', SIGNAL);
    const asking = start('k', database.url, SOON_MS).find(refused, 'demo', SIGNAL);
    await assert.rejects(asking, { code: 'MODEL_KEY_GONE' });
  });

  it('cannot be read by whoever has the database but not the service’s secrets', async () => {
    const stopping = new AbortController();
    const run = randomUUID();
    const { promise: complaint, resolve } = Promise.withResolvers<string>();
    const { stop } = captureLog((line) => {
      if (line.msg.startsWith('Model keys of requests')) resolve(JSON.stringify(line));
    });
    await start().hold(OWNER, run, { demo: SECRET });
    const found = start('x').find(run, 'demo', stopping.signal);
    assert.ok(!(await complaint).includes(SECRET));
    stop();
    stopping.abort();
    await assert.rejects(found, { name: 'AbortError' });
  });

  it('of many calls are handed over, and asked for, in statements of bounded size', async () => {
    const { runs } = await openAccount(database.db, 100, 1_600);
    await database.db
      .updateTable('run')
      .set({ model_key_providers: ['demo'] })
      .execute();
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    await listener.query('listen weir_request_keys');
    const wanted = new Set<string>();
    const heard = new Set<string>();
    listener.on('notification', ({ payload = '' }) => {
      const notice = JSON.parse(payload);
      for (const callId of notice.wanted ?? []) wanted.add(callId);
      if (notice.sealed) heard.add(notice.executionId);
    });
    const sizes: number[] = [];
    const api = start('k', database.url, undefined, (chars) => sizes.push(chars));
    await waitUntil(async () => runs.every((run) => wanted.has(run)));
    const calls = Array.from({ length: 500 }, () => randomUUID());
    for (const callId of calls) await api.hold(OWNER, callId, { demo: 'k'.repeat(500) });
    heard.clear();
    sizes.length = 0;
    await api.end();
    await waitUntil(async () => calls.every((callId) => heard.has(callId)));
    await listener.end();
    assert.ok(sizes.length > 1 && Math.max(...sizes) < 300_000, sizes.join());
  });
});
