import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseApiKey, secretMatches } from '../../../api/auth/api-key.ts';
import { findOperatorKey } from '../../../db/tenants/operator-keys.ts';
import { takeStartLock } from '../../../dev/processes/process-lock.ts';
import { PEPPER } from '../../harness.ts';
import { getSharedWeir, type SharedWeir } from '../../shared-weir.ts';
import { fail, useDatabase, weirIn } from '../cli-harness.ts';
import { createOperator, type Operator } from '../operator-cli.ts';

const CREATE = ['operator', 'create', '--name', 'ann'];

describe('weir operator create', () => {
  const { cli } = useDatabase();

  it('makes a key on the database, which keeps an HMAC of it under the pepper', async () => {
    const { stdout, stderr } = await weirIn(cli.env, CREATE);
    assert.match(stdout, /^weir_operator_\w{8}_\w{32}\n$/);
    assert.equal(stderr, 'Keep the key now: it cannot be shown again.\n');
    const { keyId, secret } = parseApiKey(stdout.trim()) ?? assert.fail();
    const stored = await findOperatorKey(cli.database.db, keyId);
    assert.equal(stored?.name, 'ann');
    assert.ok(secretMatches(secret, stored.secret_hmac, PEPPER));
  });

  it('needs a name, and the pepper of the service', async () => {
    await fail(2, weirIn(cli.env, ['operator', 'create']));
    const { WEIR_API_KEY_PEPPER: _, ...env } = cli.env;
    const said = await fail(1, weirIn(env as typeof cli.env, CREATE));
    assert.match(said, /^WEIR_API_KEY_PEPPER is not set\. Set the value of the service/);
  });

  it('makes no key under another pepper unless --new-pepper says that it is new', async () => {
    await weirIn(cli.env, CREATE);
    const changed = { ...cli.env, WEIR_API_KEY_PEPPER: 'another-'.repeat(4) };
    assert.match(
      await fail(1, weirIn(changed, CREATE)),
      /^WEIR_API_KEY_PEPPER is not the pepper of the service: the key would not work\./,
    );
    assert.equal((await weirIn(changed, [...CREATE, '--new-pepper'])).code, 0);
    assert.equal((await weirIn(changed, CREATE)).code, 0);
    await fail(1, weirIn(cli.env, CREATE));
    assert.equal((await weirIn(cli.env, [...CREATE, '--new-pepper'])).code, 0);
  });

  it('takes the database and the pepper of a local npm start that runs when no variable is set', async () => {
    const local = await mkdtemp(path.join(cli.folder, 'state-'));
    const bare = { WEIR_STATE_DIR: local };
    const without = await fail(1, weirIn(bare, CREATE));
    assert.match(
      without,
      /^WEIR_API_KEY_PEPPER is not set|^DATABASE_URL is not set, and .*state-\S+ has no state/,
    );
    const state = { DATABASE_URL: cli.database.url, WEIR_API_KEY_PEPPER: PEPPER };
    await writeFile(path.join(local, 'env.json'), JSON.stringify(state));
    // The state may have been copied from the folder of a start that runs there.
    const stopped = await fail(1, weirIn(bare, CREATE));
    assert.match(stopped, /^npm start is not running; \S+ has the state of its last run\./);
    const lock = takeStartLock(local);
    const { stdout, stderr } = await weirIn(bare, CREATE);
    lock.release();
    assert.match(stdout, /^weir_operator_/, stderr);
  });

  it('says in a sentence that the database cannot be reached', async () => {
    const nowhere = { ...cli.env, DATABASE_URL: 'postgres://127.0.0.1:9/x' };
    assert.match(await fail(1, weirIn(nowhere, CREATE)), /^The database cannot be reached/);
  });
});

describe('weir operator key', () => {
  let weir: SharedWeir;
  let operator: Operator;
  before(async () => {
    weir = await getSharedWeir();
    operator = await createOperator(weir);
  });
  after(() => weir.stop());

  it('lists keys without their secrets, and revokes one as it is listed', async () => {
    const leaked = await createOperator(weir);
    const listed = await operator.succeed('operator', 'key', 'list');
    assert.match(listed, new RegExp(`^weir_operator_${leaked.keyId} +test +active `, 'm'));
    assert.ok(!listed.includes(leaked.key));
    const refusal = await fail(2, operator.run('operator', 'key', 'revoke', leaked.key));
    assert.equal(refusal, 'Give the key as key list prints it, without its secret.\n');
    await operator.succeed('operator', 'key', 'revoke', `weir_operator_${leaked.keyId}`);
    assert.match(
      await operator.succeed('operator', 'key', 'list'),
      new RegExp(`^weir_operator_${leaked.keyId} +test +revoked .* ${operator.actor}$`, 'm'),
    );
    assert.match(
      await fail(1, leaked.run('operator', 'key', 'list')),
      /not valid.* WEIR_OPERATOR_KEY was sent\. \(UNAUTHENTICATED, request /,
    );
    await fail(1, operator.run('operator', 'key', 'revoke', 'nothere1'));
  });

  it('is named by whoami', async () => {
    const { stdout } = await operator.run('whoami');
    assert.match(stdout, new RegExp(`^Operator’s key weir_operator_${operator.keyId} \\(test\\)\n`));
    assert.match(stdout, /with the key in WEIR_OPERATOR_KEY\n\nEvery organization/);
  });

  it('is refused to everybody but operators', async () => {
    const { key } = await weir.createTenant();
    const { WEIR_OPERATOR_KEY: _, ...env } = operator.env;
    const asOthers = [
      { ...env, WEIR_API_KEY: key },
      { ...env, WEIR_TOKEN: await weir.provider.token('somebody') },
    ] as { [name: string]: string }[];
    for (const other of asOthers)
      for (const args of [
        ['key', 'list'],
        ['org', 'list'],
        ['runs', 'stuck'],
      ])
        assert.match(
          await fail(1, weirIn(other, ['operator', ...args])),
          /not an API key|needs an operator of the service\. \(FORBIDDEN/,
        );
  });
});
