// Rate limits of API keys and organizations, by GCRA (the generic cell rate algorithm) in one row per limit, which all
// API processes share: a minute's requests may come at once, and become available again evenly.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

const MINUTE_US = 60_000_000;
const SECOND_US = 1_000_000;

/** A rate limit of `subject`, the id of an API key or organization, to `perMinute` requests; 0 is no limit. */
type Quota = { name: string; subject: string; perMinute: number };

/** A quota after a request: after `resetSeconds` all of it is available again, after `retrySeconds` one request. */
type QuotaState = {
  name: string;
  perMinute: number;
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
  retrySeconds: number;
};

/**
 * Takes one request from each quota, in one statement. Stops at the first quota that is used up, which is the last in
 * the answer: neither that quota nor those after it are charged.
 */
export async function takeRequest(db: Db, quotas: Quota[]): Promise<QuotaState[]> {
  const limits = quotas
    .filter(({ perMinute }) => perMinute > 0)
    .map((quota) => ({ ...quota, stepUs: Math.floor(MINUTE_US / quota.perMinute) }));
  if (limits.length === 0) return [];
  const names = limits.map((_, index) => sql.id(`quota${index}`));
  const takes = limits.map(
    ({ subject, perMinute, stepUs }, index) =>
      sql`${names[index]} as (${take(subject, stepUs, stepUs * perMinute, names[index - 1])})`,
  );
  const reads = names.map(
    (name, index) =>
      sql`select ${sql.lit(index)} as index, allowed,
        (extract(epoch from full_at - now()) * 1000000)::bigint as full_in_us from ${name}`,
  );
  const { rows } = await sql<{ index: number; allowed: boolean; full_in_us: number }>`
    with ${sql.join(takes)} ${sql.join(reads, sql` union all `)} order by index`.execute(db);
  return limits.slice(0, rows.length).map(({ name, perMinute, stepUs }, index) => {
    const { allowed, full_in_us } = rows[index] as (typeof rows)[number];
    const leftUs = stepUs * perMinute - full_in_us;
    return {
      name,
      perMinute,
      allowed,
      remaining: Math.max(0, Math.floor(leftUs / stepUs)),
      resetSeconds: Math.max(0, Math.ceil(full_in_us / SECOND_US)),
      retrySeconds: Math.max(1, Math.ceil((stepUs - leftUs) / SECOND_US)),
    };
  });
}

/** Moves `full_at`, GCRA's theoretical arrival time, one step ahead, unless it is then over a minute's quota ahead. */
function take(subject: string, stepUs: number, quotaUs: number, after?: RawBuilder<unknown>) {
  const next = sql`greatest(r.full_at, now()) + ${stepUs} * interval '1 microsecond'`;
  const fits = sql`${next} <= now() + ${quotaUs} * interval '1 microsecond'`;
  return sql`
    insert into rate_limit as r (subject, full_at, allowed)
    select ${subject}::uuid, now() + ${stepUs} * interval '1 microsecond', true
      ${after ? sql`from ${after} where ${after}.allowed` : sql``}
    on conflict (subject) do update set
      allowed = ${fits}, full_at = case when ${fits} then ${next} else r.full_at end
    returning allowed, full_at`;
}
