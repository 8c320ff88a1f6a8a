// Checks what must always hold between usage and the ledger.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';
import { countUsage } from '../../../db/usage/count-usage.ts';

/** Counts what is to be counted, then asserts that an organization's usage is what its ended calls were charged, to the credit. */
export async function auditUsage(db: Db, organizationId: string): Promise<number> {
  while ((await countUsage(db, 500)) > 0);
  // In one statement, so that a call which ends meanwhile is on both sides or on none.
  const { rows } = await sql<{ used: number; charged: number }>`
    select
      (select coalesce(sum(microcredits), 0)::bigint from usage where organization_id = ${organizationId}) as used,
      (select coalesce(-sum(amount_microcredits), 0)::bigint from ledger_entry as entry
        join run on run.execution_id = entry.execution_id
        where entry.organization_id = ${organizationId} and entry.kind = 'charge' and run.status <> 'started'
          and not exists (select from usage_pending where usage_pending.execution_id = entry.execution_id)) as charged`.execute(
    db,
  );
  const [{ used, charged }] = rows as [(typeof rows)[number]];
  assert.equal(used, charged, 'usage is not what was charged');
  return used;
}
