import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import { createEncryption, SecretUnreadable } from '../db/encrypt.ts';
import { requireModelKeysReadable } from '../db/tenants/model-keys.ts';
import { requireSigningSecretsReadable } from '../db/webhooks/webhook-secrets.ts';
import { log } from '../observability/log.ts';

/**
 * Logs an error when WEIR_SECRETS_KEYS does not fit the stored secrets: decrypts one of each key. A database that cannot be asked
 * is told elsewhere.
 */
export async function tellUnreadableSecrets(
  db: Db,
  { secretsKeys }: Pick<Config, 'secretsKeys'>,
): Promise<void> {
  const encryption = createEncryption(secretsKeys);
  try {
    await requireModelKeysReadable(db, encryption);
    await requireSigningSecretsReadable(db, encryption);
  } catch (error) {
    if (error instanceof SecretUnreadable)
      log.error(
        { reason: error.message },
        'WEIR_SECRETS_KEYS does not fit the stored secrets: webhooks and models that need them wait or fail. Set it to the keys that they were made with.',
      );
  }
}
