// Results of writes that were sent with an Idempotency-Key. A result is kept in the transaction of its write, encrypted,
// because it may hold a secret that is shown once.
import { deserialize, serialize } from 'node:v8';
import { sql } from 'kysely';
import { IDEMPOTENCY_KEY_HOURS } from '../../flow/limits.ts';
import type { Encryption } from '../../platform/secrets/encrypt.ts';
import type { Db, Tx } from '../connect.ts';
import { keyReused } from '../runs/idempotency-keys.ts';

/** `digest`: SHA-256 of everything that makes two requests the same. */
export type KeyedWrite = { actor: string; path: string; key: string; digest: Buffer };

const EXPIRED = sql<boolean>`kept_result.created_at <= now() - ${sql.lit(IDEMPOTENCY_KEY_HOURS)} * interval '1 hour'`;

/**
 * Finds the result of an earlier write with the same key; undefined when there is none or the key has expired. Throws
 * IDEMPOTENCY_KEY_REUSED when the key was used with another request.
 */
export async function findKeptResult(
  db: Db | Tx,
  encryption: Encryption,
  { actor, path, key, digest }: KeyedWrite,
): Promise<{ result: unknown } | undefined> {
  const row = await db
    .selectFrom('kept_result')
    .select(['digest', 'result'])
    .where('actor', '=', actor)
    .where('path', '=', path)
    .where('key', '=', key)
    .where((eb) => eb.not(EXPIRED))
    .executeTakeFirst();
  if (!row) return undefined;
  if (!row.digest.equals(digest)) throw keyReused();
  const opened = encryption.decrypt(row.result ?? '', ownerOf({ actor, path, key }));
  return { result: deserialize(Buffer.from(opened, 'base64')) };
}

/**
 * Runs `work` once for a key, and returns its result, or the kept result of the earlier request. Waits for a concurrent request
 * with the same key. Throws as `findKeptResult` does.
 */
export async function writeOnce<T>(
  tx: Tx,
  encryption: Encryption,
  write: KeyedWrite,
  work: () => Promise<T>,
): Promise<{ result: T; isReplayed: boolean }> {
  const { actor, path, key, digest } = write;
  const taken = await tx
    .insertInto('kept_result')
    .values({ actor, path, key, digest })
    .onConflict((conflict) =>
      conflict
        .columns(['actor', 'path', 'key'])
        .doUpdateSet({ digest, result: null, created_at: sql`now()` })
        .where(EXPIRED),
    )
    .returning('key')
    .executeTakeFirst();
  if (!taken) {
    const kept = await findKeptResult(tx, encryption, write);
    // It expired between the two statements.
    if (!kept) return writeOnce(tx, encryption, write, work);
    return { result: kept.result as T, isReplayed: true };
  }
  const result = await work();
  await tx
    .updateTable('kept_result')
    .set({ result: encryption.encrypt(serialize(result).toString('base64'), ownerOf(write)) })
    .where('actor', '=', actor)
    .where('path', '=', path)
    .where('key', '=', key)
    .execute();
  return { result, isReplayed: false };
}

/** Deletes up to `limit` expired results, the oldest first; returns the number. Several processes may share the work. */
export async function deleteExpiredResults(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from kept_result where ctid = any (array(
      select ctid from kept_result where ${EXPIRED} order by created_at limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(numAffectedRows);
}

/** Encrypts every kept result under the newest of the service's own keys; returns the number. */
export async function reencryptKeptResults(tx: Tx, encryption: Encryption): Promise<number> {
  const rows = await tx
    .selectFrom('kept_result')
    .select(['actor', 'path', 'key', 'result'])
    .where('result', 'is not', null)
    .forUpdate()
    .execute();
  for (const { result, ...place } of rows) {
    const owner = ownerOf(place);
    await tx
      .updateTable('kept_result')
      .set({ result: encryption.encrypt(encryption.decrypt(result as string, owner), owner) })
      .where('actor', '=', place.actor)
      .where('path', '=', place.path)
      .where('key', '=', place.key)
      .execute();
  }
  return rows.length;
}

function ownerOf({ actor, path, key }: Omit<KeyedWrite, 'digest'>): string {
  return `kept_result/${JSON.stringify([actor, path, key])}`;
}
