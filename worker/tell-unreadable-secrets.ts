import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/connect.ts';
import { requireModelKeysReadable } from '../db/tenants/model-keys.ts';
import { requireSigningSecretsReadable } from '../db/webhooks/webhook-secrets.ts';
import type { Config } from '../platform/config/config.ts';
import { log } from '../platform/observability/log.ts';
import { createEncryption, SecretUnreadable } from '../platform/secrets/encrypt.ts';

const ASK_AGAIN_MS = 5_000;

/**
 * Logs an error when WEIR_SECRETS_KEYS does not fit the stored secrets: decrypts one secret of each key. While the database
 * is away, tries again until `signal` aborts; other code logs the outage.
 */
export async function logUnreadableSecrets(
  db: Db,
  { secretsKeys }: Pick<Config, 'secretsKeys'>,
  signal?: AbortSignal,
): Promise<void> {
  const encryption = createEncryption(secretsKeys);
  while (!signal?.aborted)
    try {
      await requireModelKeysReadable(db, encryption);
      await requireSigningSecretsReadable(db, encryption);
      return;
    } catch (error) {
      if (error instanceof SecretUnreadable)
        return log.error(
          { reason: error.message },
          'WEIR_SECRETS_KEYS does not fit the stored secrets: webhooks and models that need them wait or fail. Set it to the keys that they were made with.',
        );
      await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
}
