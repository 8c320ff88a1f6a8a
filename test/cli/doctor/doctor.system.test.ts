import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import type { LocalEnvironment } from '../../../dev/state-folder.ts';
import { openAccount } from '../../db/credits/ledger-fixture.ts';
import { createTestDatabase } from '../../db/test-database.ts';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import { startProgram } from '../../faults/processes.ts';
import { PEPPER, SECRETS_KEYS, type Weir } from '../../harness.ts';
import { createOrganization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';
import { spawnWeir } from '../cli-harness.ts';

type Finding = { check: string; state: string; message: string; mend?: string };

describe('weir doctor', () => {
  let weir: Weir;
  let provider: IdentityProvider;
  let frozen: Server;
  let frozenAt: string;
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
    // Takes connections, and never says a word.
    frozen = createServer((socket) => socket.on('error', () => undefined));
    frozen.listen(0, '127.0.0.1');
    await once(frozen, 'listening');
    frozenAt = `127.0.0.1:${(frozen.address() as AddressInfo).port}`;
  });
  after(async () => {
    frozen.close();
    await weir.stop();
  });

  const env = () => ({
    WEIR_STATE_DIR: '/nonexistent',
    PATH: process.env.PATH ?? '',
    DATABASE_URL: weir.config.databaseUrl,
    WEIR_API_KEY_PEPPER: PEPPER,
    WEIR_SECRETS_KEYS: SECRETS_KEYS,
    WEIR_PORT: new URL(weir.url).port,
    WEIR_TASK_QUEUE: weir.config.taskQueue,
    TEMPORAL_ADDRESS: weir.config.temporal.connectionOptions.address ?? '',
    WEIR_OIDC_ISSUER: weir.config.oidc?.issuer ?? '',
    WEIR_DATABASE_CONNECTIONS: '2',
  });
  async function examine(change: { [name: string]: string } = {}) {
    const { code, stdout, stderr } = await spawnWeir({ ...env(), ...change }, ['doctor', '--json']);
    assert.equal(stderr, '');
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
    assert.equal(code, ok ? 0 : 1);
    const errors = findings.filter(({ state }) => state === 'error');
    for (const { mend, message } of errors) assert.ok(mend, message);
    return { errors, findings, stdout };
  }
  const errorOf = async (check: string, change: { [name: string]: string }) => {
    const { errors, stdout } = await examine(change);
    assert.doesNotMatch(stdout, /a-secret/);
    return errors
      .filter((finding) => finding.check === check)
      .map(({ message }) => message)
      .join(' ');
  };

  it('finds nothing wrong with a service that works', async () => {
    const { errors, findings } = await examine();
    assert.deepEqual(errors, []);
    const working = findings.filter(({ state }) => state === 'ok').map(({ check }) => check);
    for (const check of ['configuration', 'database', 'engine', 'identity'])
      assert.ok(working.includes(check), check);
    assert.match(findings[0]?.message ?? '', /This is Weir \d+\.\d+\.\d+\.$/);
    const { taskQueue } = weir.config;
    assert.deepEqual(
      findings.filter(({ check }) => check === 'workers').map(({ message }) => message),
      [taskQueue, `${taskQueue}-webhooks`].map((name) => `Workers ask for work on ${name}.`),
    );
  });

  it('says of a local npm start that does not run only that', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-state-'));
    const state: LocalEnvironment = {
      DATABASE_URL: 'postgres://weir@127.0.0.1:1/weir',
      WEIR_API_KEY_PEPPER: PEPPER,
      WEIR_SECRETS_KEYS: SECRETS_KEYS,
      WEIR_URL: 'http://127.0.0.1:1',
      WEIR_API_KEY: 'weir_test_1_a-secret',
      DEMO_BASE_URL: 'http://127.0.0.1:1/v1',
    };
    await writeFile(path.join(folder, 'env.json'), JSON.stringify(state));
    const { PATH } = env();
    const { code, stdout } = await spawnWeir({ PATH, WEIR_STATE_DIR: folder }, ['doctor', '--json']);
    const errors = (JSON.parse(stdout).findings as Finding[]).filter((finding) => finding.state === 'error');
    assert.equal(code, 1);
    assert.deepEqual(
      errors.map(({ message }) => message),
      [`npm start is not running; ${folder} has the state of its last run.`],
    );
    await rm(folder, { recursive: true });
  });

  it('says that WEIR_SECRETS_KEYS has another key than stored secrets, or lacks it', async () => {
    await createOrganization(weir, provider);
    assert.equal(await errorOf('secrets', {}), '');
    const other = Buffer.alloc(32, 'x').toString('base64');
    assert.match(
      await errorOf('secrets', { WEIR_SECRETS_KEYS: `test:${other}` }),
      /^The secret in model_key\/\S+\/openai cannot be decrypted under the key test: WEIR_SECRETS_KEYS has another key/,
    );
    const { errors, stdout } = await examine({ WEIR_SECRETS_KEYS: `new:${other}` });
    assert.match(errors[0]?.message ?? '', /under the key test, which is not in WEIR_SECRETS_KEYS\.$/);
    assert.match(errors[0]?.mend ?? '', /secrets\.md/);
    for (const secret of ['sk-first', other, SECRETS_KEYS]) assert.ok(!stdout.includes(secret));
  });

  it('says that the pepper is not that of API keys', async () => {
    assert.equal(await errorOf('secrets', {}), '');
    assert.match(
      await errorOf('secrets', { WEIR_API_KEY_PEPPER: 'a-secret'.repeat(4) }),
      /^WEIR_API_KEY_PEPPER is not the pepper that API keys were made with/,
    );
  });

  it('says how many of the last model calls failed, and with what', async () => {
    const database = await createTestDatabase();
    const env = { DATABASE_URL: database.url, OPENAI_API_KEY: 'a-secret', OPENAI_BASE_URL: weir.url };
    const callsOf = async () => {
      const { findings } = await examine(env);
      return findings.find(({ check, message }) => check === 'models' && message.includes(' of openai '));
    };
    const end = async (count: number, error?: object) => {
      const { runs } = await openAccount(database.db, 0, 1);
      await sql`update run set execution_id = timed_id() where execution_id = ${runs[0]}`.execute(
        database.db,
      );
      await sql`
        insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, error, model, latency_ms,
          attempts, started_at, finished_at)
        select max(execution_id::text)::uuid, n::text, 'ask', 'ask', 'llm', ${error ? 'failed' : 'completed'}, '{}',
          ${error ? JSON.stringify(error) : null}::json, 'openai/gpt', 1, 1, now(), now()
        from run, generate_series(1, ${count}) as n group by n`.execute(database.db);
    };
    try {
      assert.equal((await callsOf())?.message, 'No call of openai ended in the last 15 minutes.');
      await end(3);
      const fine = await callsOf();
      assert.equal(fine?.message, '0 of the last 3 calls of openai in the last 15 minutes failed.');
      assert.equal(fine.state, 'ok');
      await end(2, { code: 'MODEL_UNAVAILABLE', message: 'unavailable (status 429): a-secret' });
      assert.equal((await callsOf())?.state, 'warning');
      await end(5, { code: 'MODEL_KEY_REJECTED', message: 'rejected (status 401): a-secret' });
      const wrong = await callsOf();
      assert.equal(wrong?.state, 'error');
      assert.equal(
        wrong.message,
        '7 of the last 10 calls of openai in the last 15 minutes failed: ' +
          '5 MODEL_KEY_REJECTED (status 401), 2 MODEL_UNAVAILABLE (status 429).',
      );
      assert.match(wrong.mend ?? '', /^Correct OPENAI_API_KEY/);
    } finally {
      await database.drop();
    }
  });

  it('names every variable that is wrong', async () => {
    const { errors } = await examine({ WEIR_PORT: 'http', WEIR_SECRETS_KEYS: 'a-secret' });
    assert.match(
      errors[0]?.message ?? '',
      /WEIR_SECRETS_KEYS .*[\s\S]*WEIR_PORT|WEIR_PORT .*[\s\S]*WEIR_SECRETS_KEYS/,
    );
  });

  it('names what is refused, missing or frozen, in bounded time and without secrets', async () => {
    const gone = 'postgres://weir:a-secret@127.0.0.1:1/weir';
    assert.match(
      await errorOf('database', { DATABASE_URL: gone }),
      /127\.0\.0\.1:1 does not answer: .*refused/,
    );
    const silent = `postgres://weir:a-secret@${frozenAt}/weir`;
    const all = await examine({
      DATABASE_URL: silent,
      TEMPORAL_ADDRESS: frozenAt,
      WEIR_OIDC_ISSUER: `http://${frozenAt}`,
      OPENAI_BASE_URL: `http://${frozenAt}/v1`,
      OPENAI_API_KEY: 'a-secret',
      WEIR_OBJECT_STORE: 's3://outputs',
      WEIR_OBJECT_STORE_ENDPOINT: `http://${frozenAt}`,
      AWS_ACCESS_KEY_ID: 'weir',
      AWS_SECRET_ACCESS_KEY: 'a-secret',
    });
    assert.deepEqual(
      all.errors.map(({ check }) => check),
      ['database', 'engine', 'objects', 'identity', 'models'],
    );
    assert.doesNotMatch(all.stdout, /a-secret/);
  });

  it('says when no worker polls, and when the namespace or the issuer is another', async () => {
    assert.equal(
      await errorOf('workers', { WEIR_TASK_QUEUE: 'nobody-polls' }),
      'On the task queue nobody-polls, no worker asks for work: runs wait. ' +
        'On the task queue nobody-polls-webhooks, no worker asks for work: webhook deliveries wait.',
    );
    assert.match(await errorOf('engine', { TEMPORAL_NAMESPACE: 'nowhere' }), /has no namespace nowhere/);
    const issuer = `${weir.config.oidc?.issuer}/`;
    assert.match(await errorOf('identity', { WEIR_OIDC_ISSUER: issuer }), /cannot be used/);
  });

  it('says when workers poll whose version is not current', async () => {
    const queue = `${weir.config.taskQueue}-versions`;
    const worker = await startProgram(weir, 'worker/worker.ts', {
      WEIR_TASK_QUEUE: queue,
      TEMPORAL_DEPLOYMENT_NAME: `weir-${randomUUID()}`,
      TEMPORAL_WORKER_BUILD_ID: '1',
    });
    try {
      const { errors } = await waitUntil(async () => {
        const found = await examine({ WEIR_TASK_QUEUE: queue });
        return found.errors.every(({ message }) => !message.includes('no worker asks for work')) && found;
      });
      assert.deepEqual(
        errors.map(({ message }) => message.split(':')[0]),
        [queue, `${queue}-webhooks`].map(
          (name) => `On the task queue ${name}, no worker of the current version asks for work`,
        ),
      );
    } finally {
      await worker.kill();
    }
  });

  it('says when migrations are missing, and when the database takes no writes', async () => {
    const { name } = await weir.db
      .selectFrom(sql<{ name: string }>`kysely_migration`.as('migration'))
      .select('name')
      .orderBy('name', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    await sql`delete from kysely_migration where name = ${name}`.execute(weir.db);
    assert.match(await errorOf('database', {}), /has not been migrated: run npm run migrate/);
    await sql`insert into kysely_migration (name, timestamp) values (${name}, now()::text)`.execute(weir.db);
    const readOnly = new URL(weir.config.databaseUrl);
    readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
    assert.match(
      await errorOf('database', { DATABASE_URL: readOnly.href }),
      /does not accept writes: default_transaction_read_only is on/,
    );
  });

  it('says that PostgreSQL has no free connection, and what to do', async () => {
    const url = Object.assign(new URL(weir.config.databaseUrl), { password: 'p' });
    url.username = `weir_crowded_${path.basename(url.pathname)}`;
    const role = sql.id(url.username);
    await sql`create role ${role} login password 'p' connection limit 0`.execute(weir.db);
    try {
      const { errors } = await examine({ DATABASE_URL: url.href });
      assert.match(errors[0]?.message ?? '', /has no free connection \(max_connections\)\.$/);
      assert.match(errors[0]?.mend ?? '', /^To free connections, end sessions .*pg_stat_activity/);
    } finally {
      await sql`drop role ${role}`.execute(weir.db);
    }
  });

  it('fits into 80 columns', async () => {
    const { stdout } = await spawnWeir({ ...env(), DATABASE_URL: 'postgres://127.0.0.1:1/weir' }, ['doctor']);
    assert.match(stdout, /^✗ database {7}PostgreSQL at 127\.0\.0\.1:1 does not answer/m);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  });
});
