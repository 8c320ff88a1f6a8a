// Indexes of tables that may hold millions of rows: built beside a running service, which the transaction of a migration cannot.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from './connect.ts';
import { fillDeliveryProjects } from './webhooks/fill-delivery-projects.ts';

/** Where each run of a list stands: after all that a filter can name, the newest first. */
const KIND = 'status, mode, environment, started_at desc, execution_id desc';
const INDEXES: { [name: string]: string } = {
  run_newest: `run (flow_id, started_at desc, execution_id desc) where continues is null`,
  run_newest_of_kind: `run (flow_id, ${KIND}) where continues is null`,
  run_newest_of_version: `run (flow_version_id, ${KIND}) where continues is null`,
  run_newest_of_key: `run (key_id, flow_id, ${KIND}) where continues is null and key_id is not null`,
  run_repeats: `run (repeats) where repeats is not null`,
  run_resumed: `run (flow_id) where continues is not null and status = 'started'`,
  run_of_version: `run (flow_version_id)`,
  run_under_way: `run (organization_id) where status = 'started' and parked_at is null`,
  test_run_newest: 'test_run (flow_id, started_at desc, id desc)',
  test_run_finished: 'test_run (finished_at)',
  test_run_of_version: 'test_run (flow_version_id)',
  ledger_entry_page: 'ledger_entry (organization_id, created_at desc, id desc)',
  ledger_entry_grants: `ledger_entry (organization_id, created_at desc, id desc) where kind = 'grant'`,
  audit_entry_of_actor: 'audit_entry (organization_id, actor, created_at desc)',
  audit_entry_of_action: 'audit_entry (organization_id, action, created_at desc)',
  webhook_delivery_due: `webhook_delivery (coalesce(next_attempt_at, created_at))
    where status in ('pending', 'failed_retry')`,
  webhook_delivery_failed: `webhook_delivery (organization_id, created_at desc, seq desc)
    where status in ('failed_permanent', 'dead_letter')`,
  webhook_delivery_of_project: `webhook_delivery (project_id, created_at desc, seq desc) where project_id is not null`,
  webhook_delivery_of_status: `webhook_delivery (organization_id, status, created_at desc, seq desc)`,
  webhook_delivery_of_event: `webhook_delivery (organization_id, event_type, created_at desc, seq desc)`,
};
/** Work on the rows of old, which is done as long as the index that needs it is missing. */
const BEFORE: { [name: string]: (db: Db) => Promise<void> } = {
  webhook_delivery_of_project: fillDeliveryProjects,
};
const REPLACED = ['run_by_flow', 'run_by_project'];

const LOCK = sql`hashtextextended('weir build-indexes', 0)`;
const LOCK_POLL_MS = 200;

/**
 * Builds the indexes that are missing, and again those whose building was cut off, and drops what they replace. Reads and writes
 * go on meanwhile. Several processes may call this at once: one builds, the others wait.
 */
export async function buildIndexes(db: Db): Promise<void> {
  await db.connection().execute(async (connection) => {
    if (await isDone(connection)) return;
    // Asked again and again: a statement that waited for the lock would be one that the builder waits for.
    while (!(await tryLock(connection))) await sleep(LOCK_POLL_MS);
    try {
      const built = await listBuilt(connection);
      for (const [name, definition] of Object.entries(INDEXES)) {
        if (built.get(name) === true) continue;
        await sql`drop index concurrently if exists ${sql.id(name)}`.execute(connection);
        await BEFORE[name]?.(connection);
        await sql`create index concurrently ${sql.id(name)} on ${sql.raw(definition)}`.execute(connection);
      }
      for (const name of REPLACED)
        await sql`drop index concurrently if exists ${sql.id(name)}`.execute(connection);
    } finally {
      await sql`select pg_advisory_unlock(${LOCK})`.execute(connection);
    }
  });
}

async function isDone(db: Db): Promise<boolean> {
  const built = await listBuilt(db);
  return Object.keys(INDEXES).every((name) => built.get(name)) && REPLACED.every((name) => !built.has(name));
}

/** Lists the indexes of the tables by name, with whether each can be used. */
async function listBuilt(db: Db): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = current_schema()::regnamespace`.execute(db);
  return new Map(rows.map(({ name, valid }) => [name, valid]));
}

async function tryLock(db: Db): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${LOCK}) as locked`.execute(db);
  return rows[0]?.locked === true;
}
