// Model keys that organizations store, and those that came with requests. Each call keeps its own until it ends or pauses.
import { sql } from 'kysely';
import type { Encryption } from '../../platform/secrets/encrypt.ts';
import type { Db, Tx } from '../connect.ts';

/** The last characters of a key that its record shows; none for keys with fewer than three times as many. */
const PREVIEW_CHARS = 4;
const COLUMNS = ['provider', 'preview', 'created_by', 'updated_at'] as const;

/** Keys by provider prefix. */
export type ModelKeys = { [provider: string]: string };

/** Sets or replaces a key. */
export function setModelKey(
  tx: Tx,
  encryption: Encryption,
  key: { organizationId: string; provider: string; secret: string; userId: string },
) {
  const values = {
    secret: encryption.encrypt(key.secret, ownerOf(key.organizationId, key.provider)),
    preview: key.secret.length >= 3 * PREVIEW_CHARS ? key.secret.slice(-PREVIEW_CHARS) : '',
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

/** Lists the keys of an organization by provider, without their secrets. */
export function listModelKeys(db: Db, organizationId: string): Promise<ModelKeyRow[]> {
  return db
    .selectFrom('model_key')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .orderBy('provider')
    .execute();
}

/** Deletes a key; returns whether there was one. */
export async function deleteModelKey(tx: Tx, organizationId: string, provider: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('model_key')
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Encrypts every key under the newest of the service's own keys; returns the number. */
export async function reencryptModelKeys(tx: Tx, encryption: Encryption): Promise<number> {
  const rows = await tx
    .selectFrom('model_key')
    .select(['organization_id', 'provider', 'secret'])
    .forUpdate()
    .execute();
  for (const { organization_id, provider, secret } of rows) {
    const owner = ownerOf(organization_id, provider);
    await tx
      .updateTable('model_key')
      .set({ secret: encryption.encrypt(encryption.decrypt(secret, owner), owner) })
      .where('organization_id', '=', organization_id)
      .where('provider', '=', provider)
      .execute();
  }
  return rows.length;
}

/** Encrypts the keys that came with the request for a call. */
export function sealModelKeys(encryption: Encryption, callId: string, keys: ModelKeys): ModelKeys {
  const sealed = Object.entries(keys).map(([provider, key]) => [
    provider,
    encryption.encrypt(key, callOwnerOf(callId, provider)),
  ]);
  return Object.fromEntries(sealed);
}

/** Decrypts a key that came with the request for a call. Throws an Error when it was encrypted for another call or provider. */
export function decryptSentKey(
  encryption: Encryption,
  { callId, provider, secret }: { callId: string; provider: string; secret: string },
): string {
  return encryption.decrypt(secret, callOwnerOf(callId, provider));
}

/** Encrypts the keys of calls in flight under the newest of the service's own keys; returns the number of calls. */
export async function reencryptSentKeys(db: Db, encryption: Encryption): Promise<number> {
  const calls = await db
    .selectFrom('run')
    .select(['execution_id', 'model_keys'])
    .where('status', '=', 'started')
    .where('model_keys', 'is not', null)
    .execute();
  // One transaction for each call: statements of runs lock several calls, in an order of their own.
  for (const { execution_id, model_keys } of calls) {
    const keys = Object.entries(model_keys ?? {}).map(([provider, secret]) => [
      provider,
      decryptSentKey(encryption, { callId: execution_id, provider, secret }),
    ]);
    const sealed = sealModelKeys(encryption, execution_id, Object.fromEntries(keys));
    await db
      .updateTable('run')
      .set({ model_keys: JSON.stringify(sealed) })
      .where('execution_id', '=', execution_id)
      .where('model_keys', 'is not', null)
      .execute();
  }
  return calls.length;
}

/** Decrypts one key under each of the service's own keys. Throws an Error that names the missing or wrong one. */
export async function requireModelKeysReadable(db: Db, encryption: Encryption): Promise<void> {
  const rows = await db
    .selectFrom('model_key')
    .select(['organization_id', 'provider', 'secret'])
    .distinctOn(sql`split_part(secret, ':', 1)`)
    .execute();
  for (const { organization_id, provider, secret } of rows)
    encryption.decrypt(secret, ownerOf(organization_id, provider));
  const { rows: sent } = await sql<{ callId: string; provider: string; secret: string }>`
    select distinct on (split_part(value, ':', 1)) execution_id as "callId", key as provider, value as secret
    from run, jsonb_each_text(model_keys) where status = 'started' and model_keys is not null`.execute(db);
  for (const key of sent) decryptSentKey(encryption, key);
}

/** Decrypts a stored key. Throws an Error when it was encrypted for another organization or provider. */
export function decryptModelKey(
  encryption: Encryption,
  { organizationId, provider, secret }: { organizationId: string; provider: string; secret: string },
): string {
  return encryption.decrypt(secret, ownerOf(organizationId, provider));
}

function ownerOf(organizationId: string, provider: string): string {
  return `model_key/${organizationId}/${provider}`;
}

function callOwnerOf(callId: string, provider: string): string {
  return `run/${callId}/model_key/${provider}`;
}
