import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/** Blocks are tried more than once in good times too. An attempt without an error was lost with its worker. */
const ATTEMPTS_MIN = 4;
const CANCELLED_SECONDS = 120;

type StuckRow = {
  executionId: string;
  reason: 'parked' | 'retrying' | 'loses workers' | 'cancelling';
  since: Date;
  lastError: string | null;
};

/** Lists up to `limit` runs of each reason for which the database says that they make no progress, the oldest first. */
export async function listStuckInDatabase(db: Db, limit: number): Promise<StuckRow[]> {
  const { rows } = await sql<StuckRow>`
    (select coalesce(continues, execution_id) as "executionId", 'parked' as reason, parked_at as since, null as "lastError"
      from run where parked_at is not null and status = 'started' order by parked_at limit ${limit})
    union all
    (select coalesce(run.continues, run.execution_id), 'cancelling', run.cancel_requested_at, null
      from run where status = 'started' and cancel_requested_at < now() - ${CANCELLED_SECONDS} * interval '1 second'
      order by started_at, execution_id limit ${limit})
    union all
    (select coalesce(run.continues, run.execution_id),
        case when block.last_error is null then 'loses workers' else 'retrying' end, block.started_at,
        block.name || coalesce(', attempt ' || block.attempts || ': ' || block.last_error,
          ': its worker was lost ' || block.attempts - 1 || ' times')
      from block_under_way as block join run on run.execution_id = block.execution_id and run.status = 'started'
      where block.attempts >= ${ATTEMPTS_MIN} and not exists (
        select from block_run where block_run.execution_id = block.execution_id and block_run.block_key = block.block_key)
      order by block.started_at limit ${limit})`.execute(db);
  return rows;
}

/** Finds the path, org/project/flow, of each of these runs that is still there. */
export async function listWithPaths(db: Db, executionIds: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('run')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .select([
      'run.execution_id',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
    ])
    .where(sql<boolean>`run.execution_id = any (${executionIds}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.execution_id, `${row.organization}/${row.project}/${row.flow}`]));
}
