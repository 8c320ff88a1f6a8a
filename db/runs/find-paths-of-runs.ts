import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/** Finds the paths, org/project/flow, of those of these runs that still exist. */
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
