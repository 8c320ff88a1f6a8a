// `weir doctor` where `npm start` runs, ran or starts: a service, and the state folder of a start that brought it up.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeStartLock } from '../../../dev/processes/process-lock.ts';
import type { LocalEnvironment } from '../../../dev/state-folder.ts';
import { PEPPER, SECRETS_KEYS, type Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { spawnWeir } from '../cli-harness.ts';

type Finding = { check: string; state: string; message: string; mend?: string };

describe('weir doctor beside npm start', () => {
  let weir: Weir;
  let folder: string;
  let lock: ReturnType<typeof takeStartLock>;
  before(async () => {
    weir = await getSharedWeir();
  });
  after(() => weir.stop());
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-state-'));
    lock = takeStartLock(folder);
  });
  afterEach(async () => {
    lock.release();
    await rm(folder, { recursive: true });
  });

  /** Leaves what a start leaves that has brought up the service. */
  async function leave(more: Partial<LocalEnvironment> = {}): Promise<void> {
    const state: LocalEnvironment = {
      DATABASE_URL: weir.config.databaseUrl,
      WEIR_API_KEY_PEPPER: PEPPER,
      WEIR_SECRETS_KEYS: SECRETS_KEYS,
      WEIR_URL: weir.url,
      WEIR_API_KEY: 'weir_test_1_a-secret',
      temporal: { TEMPORAL_ADDRESS: weir.config.temporal.connectionOptions.address ?? '' },
      ...more,
    };
    await writeFile(path.join(folder, 'env.json'), JSON.stringify(state));
    lock.setUrl(weir.url);
  }
  async function examine(env: { [name: string]: string } = {}) {
    const given = { PATH: process.env.PATH ?? '', WEIR_STATE_DIR: folder, ...env };
    const { stdout } = await spawnWeir(given, ['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const messages = (state: string) =>
      findings.filter((finding) => finding.state === state).map(({ message }) => message);
    return { findings, errors: messages('error'), warnings: messages('warning') };
  }

  it('says of a first start that it is still starting, and only that', async () => {
    const { findings } = await examine();
    assert.deepEqual(
      findings.map(({ message }) => message),
      ['npm start is still starting.'],
    );
  });

  it('says where no start has run how one is found', async () => {
    lock.release();
    const { findings } = await examine();
    assert.match(findings[0]?.message ?? '', /DATABASE_URL is not set/);
    assert.match(findings[0]?.mend ?? '', /in another checkout, or with WEIR_STATE_DIR, set WEIR_STATE_DIR/);
  });

  const taskQueue = () => ({ WEIR_TASK_QUEUE: weir.config.taskQueue });

  it('looks at what runs, whatever address is set for another service', async () => {
    await leave({ given: ['WEIR_TASK_QUEUE'] });
    const engine = { TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_API_KEY: 'a-key' };
    const other = { ...engine, WEIR_PORT: '1', WEIR_PUBLIC_URL: 'http://127.0.0.1:1' };
    assert.deepEqual((await examine({ ...taskQueue(), ...other })).errors, []);
  });

  it('has the secrets of a start that runs where both were given the same database, and not for another one', async () => {
    await leave();
    const same = { ...taskQueue(), DATABASE_URL: weir.config.databaseUrl };
    assert.deepEqual((await examine(same)).errors, []);
    const { errors } = await examine({ ...same, DATABASE_URL: 'postgres://127.0.0.1:1/other' });
    assert.match(errors.join(), /WEIR_API_KEY_PEPPER is not set\s+WEIR_SECRETS_KEYS is not set/);
    lock.release();
    assert.match((await examine(same)).errors.join(), /WEIR_API_KEY_PEPPER is not set/);
  });

  it('names the variables that the start was given and that are not set for doctor', async () => {
    await leave({ given: ['WEIR_TASK_QUEUE', 'OPENAI_API_KEY'] });
    const named = async (env: { [name: string]: string }) =>
      (await examine(env)).warnings.filter((message) => message.startsWith('npm start was given')).join();
    assert.match(await named({}), / not set here: WEIR_TASK_QUEUE, OPENAI_API_KEY\. /);
    assert.match(await named(taskQueue()), / not set here: OPENAI_API_KEY\. /);
    const secrets = { WEIR_API_KEY_PEPPER: PEPPER, WEIR_SECRETS_KEYS: SECRETS_KEYS };
    assert.equal(await named({ ...secrets, DATABASE_URL: 'postgres://127.0.0.1:1/other' }), '');
  });
});
