import type { Db } from '../../db/connect.ts';
import { reencryptKeptResults } from '../../db/tenants/kept-results.ts';
import { reencryptModelKeys, reencryptSentKeys } from '../../db/tenants/model-keys.ts';
import { reencryptSigningSecrets } from '../../db/webhooks/webhook-secrets.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import type { CommandResult } from '../terminal/print.ts';
import { secretsKeys } from './environment.ts';

/** Encrypts all stored secrets under the first key of WEIR_SECRETS_KEYS. */
export async function reencryptSecrets(db: Db): Promise<CommandResult> {
  const keys = secretsKeys();
  const encryption = createEncryption(keys);
  const stored = await db.transaction().execute(async (tx) => ({
    key: keys[0].id,
    signingSecrets: await reencryptSigningSecrets(tx, encryption),
    modelKeys: await reencryptModelKeys(tx, encryption),
    keptResults: await reencryptKeptResults(tx, encryption),
  }));
  const done = { ...stored, calls: await reencryptSentKeys(db, encryption) };
  return {
    json: done,
    text: `Encrypted under ${done.key}: ${done.signingSecrets} signing secrets, ${done.modelKeys} model keys, model keys of ${done.calls} calls.`,
  };
}
