import { mintApiKey } from '../../api/auth/api-key.ts';
import { toOperatorKey } from '../../api/organizations/to-records.ts';
import type { Db } from '../../db/connect.ts';
import { recordFirstPepper, recordNewPepper } from '../../db/tenants/api-key-pepper.ts';
import { insertOperatorKey } from '../../db/tenants/operator-keys.ts';
import { ServiceError } from '../../flow/errors.ts';
import { type CommandResult, note } from '../terminal/print.ts';
import { apiKeyPepper } from './environment.ts';

const OTHER_PEPPER =
  'WEIR_API_KEY_PEPPER is not the pepper of the service: the key would not work. Set it to the value of the service, or repeat ' +
  'with --new-pepper to change the pepper: docs/operating/secrets.md.';
/** Creates an operator's key. Throws CONFLICT when the pepper is not that of the service. */
export async function createKey(
  db: Db,
  { name, newPepper }: { name: string; newPepper?: boolean },
): Promise<CommandResult> {
  const pepper = apiKeyPepper();
  if (newPepper) await recordNewPepper(db, pepper);
  else if (!(await recordFirstPepper(db, pepper))) throw new ServiceError('CONFLICT', OTHER_PEPPER);
  const { plaintext, keyId, secretHmac } = mintApiKey('operator', pepper);
  const row = await insertOperatorKey(db, { keyId, name, secretHmac });
  note('Keep the key now: it cannot be shown again.');
  return { json: { ...toOperatorKey(row), key: plaintext }, text: plaintext };
}
