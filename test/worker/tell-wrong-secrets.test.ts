import assert from 'node:assert/strict';
import { setModelKey } from '../../db/tenants/model-keys.ts';
import type { Config } from '../../platform/config/config.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import { logWrongSecrets, openDependencies } from '../../worker/open-dependencies.ts';
import { captureLog } from '../capture-log.ts';
import { createTestDatabase } from '../db/test-database.ts';
import { startWeir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

it('a process whose WEIR_SECRETS_KEYS do not fit the stored secrets says so when it starts', async () => {
  const weir = await startWeir({ worker: false });
  const captured = captureLog();
  const told = () => captured.lines.filter(({ msg }) => msg.startsWith('WEIR_SECRETS_KEYS does not fit'));
  try {
    const { db, config } = weir;
    const { organizationId } = await weir.createTenant();
    const secretsKeys: Config['secretsKeys'] = [{ id: 'other', key: Buffer.alloc(32, 'o') }];
    const key = { organizationId, provider: 'openai', secret: 'sk-first', userId: 'ada' };
    await db.transaction().execute((tx) => setModelKey(tx, createEncryption(secretsKeys), key));
    await logWrongSecrets(db, { ...config, secretsKeys });
    assert.deepEqual(told(), []);
    const dependencies = await openDependencies(config);
    await waitUntil(() => told().length > 0);
    await dependencies.close();
    assert.deepEqual(
      told().map(({ level }) => level),
      ['error'],
    );
    assert.match(String(told()[0]?.reason), /under the key other, which is not in WEIR_SECRETS_KEYS/);
    assert.doesNotMatch(JSON.stringify(captured.lines), /sk-first/);
    // A process may be up before its database.
    let isUp = false;
    const late = new Proxy(db, {
      get(target, name) {
        if (name === 'selectFrom' && !isUp) {
          isUp = true;
          throw new Error('the database is away');
        }
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await logWrongSecrets(late, config);
    assert.equal(told().length, 2);
  } finally {
    captured.stop();
    await weir.stop();
  }
});

it('a process whose WEIR_API_KEY_PEPPER is not the recorded one says so when it starts, and the first one is recorded', async () => {
  const database = await createTestDatabase();
  const captured = captureLog();
  try {
    const secretsKeys: Config['secretsKeys'] = [{ id: 'one', key: Buffer.alloc(32, 'o') }];
    const start = async (letter: string) => {
      await logWrongSecrets(database.db, { secretsKeys, apiKeyPepper: letter.repeat(32) });
      return captured.lines.filter(({ msg }) => msg.startsWith('WEIR_API_KEY_PEPPER is not')).length;
    };
    assert.deepEqual([await start('a'), await start('a'), await start('b'), await start('a')], [0, 0, 1, 1]);
    assert.doesNotMatch(JSON.stringify(captured.lines), /[ab]{32}/);
  } finally {
    captured.stop();
    await database.drop();
  }
});
