import type { Db } from '../connect.ts';
import { membershipsOf, type Viewer } from './organizations.ts';

/**
 * Filters `ids` of runs, test runs and deliveries (with which the ids of their workflows begin) to those of
 * the viewer's organizations. Deleted ones are not included.
 */
export async function listReadableWorkflows(db: Db, viewer: Viewer, ids: string[]): Promise<Set<string>> {
  const organizations = db
    .selectFrom(membershipsOf(viewer))
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select('organization.id')
    .where('organization.deleted_at', 'is', null);
  const flows = db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .select('flow.id')
    .where('flow.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null)
    .where('project.organization_id', 'in', organizations);
  const rows = await db
    .selectFrom('run')
    .select('run.execution_id as id')
    .where('run.execution_id', 'in', ids)
    .where('run.flow_id', 'in', flows)
    .unionAll(
      db
        .selectFrom('test_run')
        .select('test_run.id')
        .where('test_run.id', 'in', ids)
        .where('test_run.flow_id', 'in', flows),
    )
    .unionAll(
      db
        .selectFrom('webhook_delivery')
        .select('webhook_delivery.id')
        .where('webhook_delivery.id', 'in', ids)
        .where('webhook_delivery.organization_id', 'in', organizations),
    )
    .execute();
  return new Set(rows.map(({ id }) => id));
}
