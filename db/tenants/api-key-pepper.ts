// Which pepper the keys of the service were made with: the database has an HMAC of a constant under it, never the pepper.
import { createHmac } from 'node:crypto';
import type { Db } from '../connect.ts';

const CONSTANT = 'weir API key pepper';

/** Says whether keys are made with this pepper; undefined while none is recorded. */
export async function isRecordedPepper(db: Db, pepper: string): Promise<boolean | undefined> {
  const row = await db.selectFrom('api_key_pepper').select('hmac').executeTakeFirst();
  return row?.hmac.equals(hmacOf(pepper));
}

/** Records this pepper unless one is recorded; says whether it is this one. */
export async function recordFirstPepper(db: Db, pepper: string): Promise<boolean> {
  const recorded = await isRecordedPepper(db, pepper);
  if (recorded !== undefined) return recorded;
  await db
    .insertInto('api_key_pepper')
    .values({ hmac: hmacOf(pepper) })
    .onConflict((conflict) => conflict.column('is_only').doNothing())
    .execute();
  // Another process may have been the first.
  return (await isRecordedPepper(db, pepper)) ?? false;
}

/** Records that keys are made with this pepper from now on. */
export async function recordNewPepper(db: Db, pepper: string): Promise<void> {
  const hmac = hmacOf(pepper);
  await db
    .insertInto('api_key_pepper')
    .values({ hmac })
    .onConflict((conflict) => conflict.column('is_only').doUpdateSet({ hmac }))
    .execute();
}

function hmacOf(pepper: string): Buffer {
  return createHmac('sha256', pepper).update(CONSTANT).digest();
}
