// Duties that start and cancel workflows, for one engine at a time: another sees none of the workflows, and would start all again.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';

const PREFIX = 'Duties of ';
/** Longer than any claim. A claim that ends later was made before the clock was set back. */
const CLAIM_MAX = sql`interval '15 minutes'`;

/**
 * Claims these duties for `engine` for the next `seconds`, unless another has them: then it changes nothing and returns that one's
 * name. Two that claim at the same moment both have them, and then neither until their claims have ended.
 */
export async function claimDuties(db: Db, engine: string, seconds: number): Promise<string | undefined> {
  const name = PREFIX + engine;
  const other = await db
    .selectFrom('duty')
    .select('name')
    .where('name', 'like', `${PREFIX}%`)
    .where('name', '!=', name)
    .where(sql<boolean>`due_at > now() and due_at < now() + ${CLAIM_MAX}`)
    .executeTakeFirst();
  if (other) return other.name.slice(PREFIX.length);
  const due_at = sql<Date>`now() + ${seconds} * interval '1 second'`;
  await db
    .insertInto('duty')
    .values({ name, due_at })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ due_at }))
    .execute();
  return undefined;
}
