// Idempotency keys of callers. A key is stored in the transaction that accepts its run.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { IDEMPOTENCY_KEY_HOURS } from '../../flow/limits.ts';
import type { Db, Tx } from '../connect.ts';
import type { IdempotencyKeyTable } from '../schema.ts';

const EXPIRED = sql<boolean>`idempotency_key.created_at <= now() - ${sql.lit(IDEMPOTENCY_KEY_HOURS)} * interval '1 hour'`;

/** `digest`: SHA-256 of everything that makes two requests the same. */
export type IdempotencyKey = {
  projectId: string;
  endpoint: IdempotencyKeyTable['endpoint'];
  key: string;
  digest: Buffer;
};

/**
 * Finds the id of the call that was accepted under the key; undefined when there is none or the key has expired.
 * Throws IDEMPOTENCY_KEY_REUSED when the key was used with another request.
 */
export async function findKeyedRun(
  db: Db,
  { projectId, endpoint, key, digest }: IdempotencyKey,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('idempotency_key')
    .select(['execution_id', 'digest'])
    .where('project_id', '=', projectId)
    .where('endpoint', '=', endpoint)
    .where('key', '=', key)
    .where((eb) => eb.not(EXPIRED))
    .executeTakeFirst();
  if (row && !row.digest.equals(digest)) throw keyReused();
  return row?.execution_id;
}

export function keyReused(): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_KEY_REUSED',
    `This Idempotency-Key was used with another request in the last ${IDEMPOTENCY_KEY_HOURS} hours: send a new key with each new request.`,
  );
}

/**
 * Inserts calls and their key for `callId`, all or none, in a transaction of its own, with `insert`. Waits for a
 * concurrent request with the same key; false when the key then belongs to another run.
 */
export function insertKeyed(
  db: Db,
  callId: string,
  key: IdempotencyKey,
  insert: (tx: Tx) => Promise<unknown>,
): Promise<boolean> {
  const values = { execution_id: callId, digest: key.digest };
  return db.transaction().execute(async (tx) => {
    const taken = await tx
      .insertInto('idempotency_key')
      .values({ project_id: key.projectId, endpoint: key.endpoint, key: key.key, ...values })
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'endpoint', 'key'])
          .doUpdateSet({ ...values, created_at: sql`now()` })
          .where(EXPIRED),
      )
      .returning('execution_id')
      .executeTakeFirst();
    if (taken) await insert(tx);
    return taken !== undefined;
  });
}

/** Deletes up to `limit` expired keys, the oldest first; returns the number. Several processes may share the work. */
export async function deleteExpiredKeys(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency_key where ctid = any (array(
      select ctid from idempotency_key where ${EXPIRED} order by created_at limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(numAffectedRows);
}
