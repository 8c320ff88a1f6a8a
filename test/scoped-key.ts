import { mintApiKey } from '../api/auth/api-key.ts';
import type { KeyScope } from '../db/tables/access.ts';
import { insertApiKey } from '../db/tenants/api-keys.ts';
import type { Weir } from './harness.ts';

/** Creates an API key of a project with these scopes alone. */
export async function createScopedKey(
  { db, config }: Pick<Weir, 'db' | 'config'>,
  projectId: string,
  ...scopes: KeyScope[]
): Promise<{ key: string; keyId: string }> {
  const { plaintext: key, keyId, secretHmac } = mintApiKey('live', config.apiKeyPepper);
  const name = scopes.join(' and ');
  await insertApiKey(db, { projectId, keyId, environment: 'live', name, secretHmac, scopes });
  return { key, keyId };
}
