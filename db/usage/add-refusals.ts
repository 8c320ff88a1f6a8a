import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { NO_FLOW, REFUSED } from './count-usage.ts';

/** Requests that a rate limit refused: whose, and how many. `keyId` is '' for users. */
export type Refusals = { organizationId: string; projectId: string; keyId: string; count: number };

/** Adds refused requests to today's usage. */
export async function addRefusals(db: Db, refusals: Refusals[]): Promise<void> {
  await db
    .insertInto('usage')
    .values(
      refusals.map(({ organizationId, projectId, keyId, count }) => ({
        organization_id: organizationId,
        day: sql<string>`(now() at time zone 'UTC')::date`,
        project_id: projectId,
        flow_id: NO_FLOW,
        version: 0,
        key_id: keyId,
        subject: REFUSED,
        latency: -1,
        count,
        failures: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        microcredits: 0,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .constraint('usage_pkey')
        .doUpdateSet((eb) => ({ count: eb('usage.count', '+', eb.ref('excluded.count')) })),
    )
    .execute();
}
