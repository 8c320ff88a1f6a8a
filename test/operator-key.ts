import { mintApiKey } from '../api/auth/api-key.ts';
import { insertOperatorKey } from '../db/tenants/operator-keys.ts';
import type { Weir } from './harness.ts';

/** `actor`: its name in the audit log. */
export type OperatorKey = { key: string; keyId: string; actor: string };

/** Creates an operator's key. */
export async function createOperatorKey(
  { db, config }: Pick<Weir, 'db' | 'config'>,
  name = 'test',
): Promise<OperatorKey> {
  const { plaintext: key, keyId, secretHmac } = mintApiKey('operator', config.apiKeyPepper);
  await insertOperatorKey(db, { keyId, name, secretHmac });
  return { key, keyId, actor: `operator/${keyId}` };
}
