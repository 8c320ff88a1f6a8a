import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setModelKey } from '../../../db/tenants/model-keys.ts';
import { findSigningSecret, rotateSigningSecret } from '../../../db/webhooks/webhook-secrets.ts';
import { createEncryption, type EncryptionKey } from '../../../platform/secrets/encrypt.ts';
import { fail, useDatabase, weirIn } from '../cli-harness.ts';

describe('weir operator', () => {
  const { cli } = useDatabase();

  describe('secrets', () => {
    const keys = ['old', 'fresh'].map((id) => ({ id, key: randomBytes(32) })) as [
      EncryptionKey,
      EncryptionKey,
    ];
    const [old, fresh] = keys;
    const text = ({ id, key }: EncryptionKey) => `${id}:${key.toString('base64')}`;

    it('need their old keys for backups from before, as the help says', async () => {
      const { stdout } = await weirIn(cli.env, ['operator', 'secrets', 'reencrypt', '--help']);
      assert.match(stdout.replace(/\s+/g, ' '), /after that only older backups need the other keys/);
    });

    it('are all encrypted under the first key or none are, and the other keys are then unnecessary', async () => {
      const { db } = cli.database;
      const { organizationId } = cli;
      const provider = 'openai';
      const key = { organizationId, provider, secret: 'sk-a', userId: 'ada' };
      await db.transaction().execute((tx) => setModelKey(tx, createEncryption([old]), key));
      for (const secret of ['whsec_one', 'whsec_two'])
        await rotateSigningSecret(db, createEncryption([old]), organizationId, secret, { grace: true });
      const reencrypt = (...known: EncryptionKey[]) =>
        weirIn({ ...cli.env, WEIR_SECRETS_KEYS: known.map(text).join(',') }, [
          'operator',
          'secrets',
          'reencrypt',
        ]);
      assert.match(
        await fail(1, reencrypt(fresh)),
        /encrypted under the key old, which is not in WEIR_SECRETS_KEYS/,
      );
      assert.equal(
        (await findSigningSecret(db, createEncryption([old]), organizationId))?.current,
        'whsec_two',
      );
      const { stdout } = await reencrypt(fresh, old);
      assert.equal(
        stdout,
        'Encrypted under fresh: 1 signing secrets, 1 model keys, model keys of 0 calls.\n',
      );
      const now = await findSigningSecret(db, createEncryption([fresh]), organizationId);
      assert.deepEqual([now?.current, now?.previous], ['whsec_two', 'whsec_one']);
      const { secret } = await db.selectFrom('model_key').select('secret').executeTakeFirstOrThrow();
      assert.equal(
        createEncryption([fresh]).decrypt(secret, `model_key/${organizationId}/${provider}`),
        'sk-a',
      );
    });
  });
});
