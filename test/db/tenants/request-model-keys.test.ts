import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import pg from 'pg';
import { connect } from '../../../db/connect.ts';
import type { EncryptionKey } from '../../../db/encrypt.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { createRequestModelKeys, type RequestModelKeys } from '../../../db/tenants/request-model-keys.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { captureLog } from '../../capture-log.ts';
import { startTcpProxy } from '../../fakes/tcp-proxy.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const SECRET = 'sk-of-a-request';
/** Asks again sooner than the service does. */
const SOON_MS = 250;
const SIGNAL = new AbortController().signal;

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
  ): RequestModelKeys & { end(): Promise<void>; kill(): Promise<void> } {
    const db = connect(database.url, 1);
    const secretsKeys: [EncryptionKey] = [{ id: 'one', key: Buffer.alloc(32, key) }];
    const keys = createRequestModelKeys(db, { databaseUrl, secretsKeys }, askAgainMs);
    const end = async () => {
      open.delete(end);
      await keys.close();
      await db.destroy();
    };
    open.add(end);
    return { ...keys, end, kill: () => db.destroy() };
  }

  it('are found by a process that ran when they came, and by one that started later', async () => {
    const run = randomUUID();
    const [api, worker] = [start(), start()];
    const asked = worker.find(run, 'demo', SIGNAL);
    await api.hold(run, { demo: SECRET, openai: 'sk-other' });
    assert.equal(await asked, SECRET);
    assert.equal(await start().find(run, 'openai', SIGNAL), 'sk-other');
  });

  it('outlive the process that accepted them, which hands its keys over when it ends', async () => {
    const run = randomUUID();
    const [api, worker] = [start(), start()];
    await api.hold(run, { demo: SECRET });
    await worker.find(run, 'demo', SIGNAL);
    const handedOver = randomUUID();
    await api.hold(handedOver, { demo: 'sk-handed-over' });
    await api.end();
    const later = start();
    assert.equal(await later.find(run, 'demo', SIGNAL), SECRET);
    await worker.end();
    assert.equal(await later.find(handedOver, 'demo', SIGNAL), 'sk-handed-over');
  });

  it('are asked for until answers can be heard: an outage is not a reason for MODEL_KEY_GONE', async () => {
    const run = randomUUID();
    await start().hold(run, { demo: SECRET });
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
    await api.hold(run, { demo: SECRET });
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
    await start().hold(run, { demo: SECRET });
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
    await api.hold(ended, { demo: SECRET });
    await api.hold(underWay, { demo: SECRET });
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

  it('cannot be read by whoever has the database but not the service’s secrets', async () => {
    const stopping = new AbortController();
    const run = randomUUID();
    const { promise: complaint, resolve } = Promise.withResolvers<string>();
    const { stop } = captureLog((line) => {
      if (line.msg.startsWith('Model keys of requests')) resolve(JSON.stringify(line));
    });
    await start().hold(run, { demo: SECRET });
    const found = start('x').find(run, 'demo', stopping.signal);
    assert.ok(!(await complaint).includes(SECRET));
    stop();
    stopping.abort();
    await assert.rejects(found, { name: 'AbortError' });
  });
});
