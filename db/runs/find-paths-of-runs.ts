import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/** Finds the path, org/project/flow, of each of these runs that is still there. */
export async function findPathsOfRuns(db: Db, executionIds: string[]): Promise<Map<string, string>> {
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
