import { sql } from 'kysely';
import type { Db } from '../connect.ts';

const MINUTE_US = 60_000_000;

/** A rate limit: `perMinute` requests for `subject`, the id of an API key, organization or user. */
export type Quota = { name: string; subject: string; perMinute: number };

/** Returns the microseconds after which a quota has one more request. */
export function stepUsOf({ perMinute }: Pick<Quota, 'perMinute'>): number {
  return Math.floor(MINUTE_US / perMinute);
}

/**
 * Takes `count` requests, at most a minute's, from a quota: all or none. Returns whether it did, and the microseconds
 * until the quota is full again. A count of 0 only asks.
 */
export async function takeRequests(
  db: Db,
  { subject, perMinute }: Quota,
  count: number,
): Promise<{ taken: boolean; fullInUs: number }> {
  const stepUs = stepUsOf({ perMinute });
  const ahead = sql`${stepUs * count} * interval '1 microsecond'`;
  const minute = sql`${stepUs * perMinute} * interval '1 microsecond'`;
  // Later only after the limit was raised or the clock was set back.
  const fullAt = sql`least(r.full_at, now() + ${minute})`;
  // GCRA's theoretical arrival time moves ahead, unless it would be more than a minute's quota ahead.
  const next = sql`greatest(${fullAt}, now()) + ${ahead}`;
  const fits = sql`${next} <= now() + ${minute}`;
  const { rows } = await sql<{ allowed: boolean; full_in_us: number }>`
    insert into rate_limit as r (subject, full_at, allowed) values (${subject}::uuid, now() + ${ahead}, true)
    on conflict (subject) do update set
      allowed = ${fits}, full_at = case when ${fits} then ${next} else ${fullAt} end
    returning allowed, (extract(epoch from full_at - now()) * 1000000)::bigint as full_in_us`.execute(db);
  const [row] = rows as [(typeof rows)[number]];
  return { taken: row.allowed, fullInUs: Math.max(0, row.full_in_us) };
}
