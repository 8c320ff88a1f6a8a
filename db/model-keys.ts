// Keys of model providers that callers bring: of an organization until it deletes them, of one run until it ends.
import { sql } from 'kysely';
import { ServiceError } from '../flow/errors.ts';
import { CANCELLED } from '../flow/run.ts';
import type { Db, Tx } from './connect.ts';
import type { Encryption } from './encrypt.ts';

/** Characters of a key that its record shows. */
const PREVIEW_CHARS = 4;
const COLUMNS = ['provider', 'preview', 'created_by', 'updated_at'] as const;

/** By provider prefix. */
export type ModelKeys = { [provider: string]: string };

/** Sets or replaces a key. */
export function setModelKey(
  tx: Tx,
  encryption: Encryption,
  key: { organizationId: string; provider: string; secret: string; userId: string },
) {
  const values = {
    secret: encryption.encrypt(key.secret, ownerOf(key.organizationId, key.provider)),
    preview: key.secret.slice(-PREVIEW_CHARS),
    created_by: key.userId,
  };
  return tx
    .insertInto('model_key')
    .values({ organization_id: key.organizationId, provider: key.provider, ...values })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'provider']).doUpdateSet({ ...values, updated_at: sql`now()` }),
    )
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}
export type ModelKeyRow = Awaited<ReturnType<typeof setModelKey>>;

/** By provider, without their secrets. */
export function listModelKeys(db: Db, organizationId: string): Promise<ModelKeyRow[]> {
  return db
    .selectFrom('model_key')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .orderBy('provider')
    .execute();
}

/** Answers whether there was one. */
export async function deleteModelKey(tx: Tx, organizationId: string, provider: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('model_key')
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What `run.model_keys` holds of a run: nobody reads it after the run's end, when the database clears it. */
export function sealModelKeys(encryption: Encryption, executionId: string, keys: ModelKeys): string {
  return encryption.encrypt(JSON.stringify(keys), ownerOfRun(executionId));
}

/**
 * The key a run brings for a provider: its own, else its organization's. Throws CANCELLED for a run that its caller
 * cancelled.
 */
export async function findModelKey(
  db: Db,
  encryption: Encryption,
  executionId: string,
  provider: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('run')
    .leftJoin('model_key', (join) =>
      join
        .onRef('model_key.organization_id', '=', 'run.organization_id')
        .on('model_key.provider', '=', provider),
    )
    .select(['run.organization_id', 'run.model_keys', 'run.cancel_requested_at', 'model_key.secret'])
    .where('run.execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  if (row.cancel_requested_at) throw new ServiceError(CANCELLED.code, CANCELLED.message);
  if (row.model_keys !== null) {
    const keys = JSON.parse(encryption.decrypt(row.model_keys, ownerOfRun(executionId))) as ModelKeys;
    if (Object.hasOwn(keys, provider)) return keys[provider];
  }
  return row.secret === null
    ? undefined
    : encryption.decrypt(row.secret, ownerOf(row.organization_id, provider));
}

function ownerOf(organizationId: string, provider: string): string {
  return `model_key/${organizationId}/${provider}`;
}

function ownerOfRun(executionId: string): string {
  return `run/${executionId}/model_keys`;
}
