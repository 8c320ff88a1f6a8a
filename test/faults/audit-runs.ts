// Checks what must hold after every fault: nothing is lost, doubled or failed, and the ledger is exact, as is usage.
import assert from 'node:assert/strict';
import { auditUsage } from '../db/usage/audit-usage.ts';
import type { Tenant, Weir } from '../harness.ts';

/** Waits for runs of `blocks` blocks, `charged` of them model calls, and asserts that they ended as without the fault. */
export async function auditRuns(
  weir: Weir,
  tenant: Tenant,
  flow: string,
  ids: string[],
  { blocks, charged }: { blocks: number; charged: number },
): Promise<void> {
  for (const id of ids) {
    const { body } = await weir.finish(flow, id, tenant.key);
    assert.equal(body.status, 'completed', body.errorMessage);
  }
  const rows = await weir.db
    .selectFrom('block_run')
    .select('status')
    .where('execution_id', 'in', ids)
    .execute();
  assert.equal(rows.length, ids.length * blocks);
  assert.deepEqual([...new Set(rows.map((row) => row.status))], ['completed']);
  const charges = await weir.db
    .selectFrom('ledger_entry')
    .select('id')
    .where('execution_id', 'in', ids)
    .execute();
  assert.equal(charges.length, ids.length * charged);
  const reserved = await weir.db
    .selectFrom('reservation')
    .select('block_key')
    .where('execution_id', 'in', ids)
    .execute();
  assert.deepEqual(reserved, []);
  const ledger = await weir.db
    .selectFrom('ledger_entry')
    .select((eb) => eb.fn.sum<number>('amount_microcredits').as('sum'))
    .where('organization_id', '=', tenant.organizationId)
    .executeTakeFirstOrThrow();
  const { balance_microcredits } = await weir.db
    .selectFrom('organization')
    .select('balance_microcredits')
    .where('id', '=', tenant.organizationId)
    .executeTakeFirstOrThrow();
  assert.equal(Number(ledger.sum), balance_microcredits);
  await auditUsage(weir.db, tenant.organizationId);
}
