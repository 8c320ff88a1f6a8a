// Keys of operators of the service. Only the HMAC of a secret is stored.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';

const COLUMNS = ['key_id', 'name', 'created_at', 'last_used_at', 'revoked_at', 'revoked_by'] as const;

/** Adds a key. */
export function insertOperatorKey(
  db: Db | Tx,
  { keyId, name, secretHmac }: { keyId: string; name: string; secretHmac: Buffer },
) {
  return db
    .insertInto('operator_key')
    .values({ key_id: keyId, name, secret_hmac: secretHmac })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}
export type OperatorKeyRow = Awaited<ReturnType<typeof insertOperatorKey>>;

/** Finds a key, even a revoked one, with the HMAC of its secret. */
export function findOperatorKey(db: Db | Tx, keyId: string) {
  return db
    .selectFrom('operator_key')
    .select(['id', 'key_id', 'name', 'secret_hmac', 'revoked_at'])
    .where('key_id', '=', keyId)
    .executeTakeFirst();
}
export type FoundOperatorKey = NonNullable<Awaited<ReturnType<typeof findOperatorKey>>>;

/** Lists up to `limit` keys by their key ids, starting after the key id `after`. */
export function listOperatorKeys(
  db: Db,
  { after = '', limit }: { after?: string | undefined; limit: number },
): Promise<OperatorKeyRow[]> {
  return db
    .selectFrom('operator_key')
    .select(COLUMNS)
    .where(sql<boolean>`key_id collate "C" > ${after}`)
    .orderBy(sql`key_id collate "C"`)
    .limit(limit)
    .execute();
}

/** Records the last use of a key, to the minute. */
export async function touchOperatorKey(db: Db, id: string): Promise<void> {
  await db
    .updateTable('operator_key')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where(sql<boolean>`last_used_at is null or last_used_at < now() - interval '1 minute'`)
    .execute();
}

/** Revokes a key; does nothing for a revoked key. Throws NOT_FOUND. */
export async function revokeOperatorKey(db: Db | Tx, keyId: string, actor: string): Promise<OperatorKeyRow> {
  const row = await db
    .updateTable('operator_key')
    .set({
      revoked_at: sql`coalesce(revoked_at, now())`,
      revoked_by: sql`coalesce(revoked_by, ${actor})`,
    })
    .where('key_id', '=', keyId)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) throw operatorKeyNotFound();
  return row;
}

export function operatorKeyNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such operator’s key.');
}
