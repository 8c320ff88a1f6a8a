import { connect } from '../../db/connect.ts';
import { requireModelKeysReadable } from '../../db/tenants/model-keys.ts';
import { requireSigningSecretsReadable } from '../../db/webhooks/webhook-secrets.ts';
import type { Config } from '../../platform/config/config.ts';
import { createEncryption, SecretUnreadable } from '../../platform/secrets/encrypt.ts';
import { describe, failure, type Result } from './finding.ts';

/** Looks whether WEIR_SECRETS_KEYS has the keys under which the stored secrets are encrypted: decrypts one of each. */
export async function checkSecrets({
  databaseUrl,
  secretsKeys,
}: Pick<Config, 'databaseUrl' | 'secretsKeys'>): Promise<Result[]> {
  const encryption = createEncryption(secretsKeys);
  const db = connect(databaseUrl, 1);
  try {
    const results: Result[] = [];
    for (const require of [requireModelKeysReadable, requireSigningSecretsReadable])
      await require(db, encryption).catch((error: unknown) =>
        results.push(
          error instanceof SecretUnreadable
            ? failure(`${describe(error)}.`, SECRETS_FIX)
            : failure(`Secrets could not be looked at: ${describe(error)}.`, 'Repeat weir doctor.'),
        ),
      );
    return results;
  } finally {
    db.destroy().catch(() => undefined);
  }
}

const SECRETS_FIX =
  'Set WEIR_SECRETS_KEYS to the keys that the stored secrets were made with, in every process: docs/operating/secrets.md.';
