import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { NO_FLOW, REFUSED } from './count-usage.ts';

/** Requests that a rate limit rejected: their tenant and number. `keyId` is '' for users. */
export type RateLimited = { organizationId: string; projectId: string; keyId: string; count: number };

/** Adds rejected requests, of any number of callers, to today's usage. */
export async function addRateLimited(db: Db, requests: RateLimited[]): Promise<void> {
  // In order, because processes that lock the same rows in different orders would deadlock.
  await sql`
    insert into usage (organization_id, day, project_id, flow_id, version, key_id, subject, latency, count, failures,
      prompt_tokens, completion_tokens, microcredits)
    select organization_id, (now() at time zone 'UTC')::date, project_id, ${NO_FLOW}::uuid, 0, key_id, ${REFUSED}, -1,
      count, 0, 0, 0, 0
    from unnest(${requests.map(({ organizationId }) => organizationId)}::uuid[],
      ${requests.map(({ projectId }) => projectId)}::uuid[], ${requests.map(({ keyId }) => keyId)}::text[],
      ${requests.map(({ count }) => count)}::bigint[]) as refused (organization_id, project_id, key_id, count)
    order by organization_id, project_id, key_id
    on conflict on constraint usage_pkey do update set count = usage.count + excluded.count`.execute(db);
}
