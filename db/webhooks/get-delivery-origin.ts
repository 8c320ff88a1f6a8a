import type { Db } from '../connect.ts';
import { versionOfRun } from '../runs/run-columns.ts';

/**
 * Gets the slug of a delivery's organization, and the flow, version, mode, environment and trace of the run that it
 * reports; a test delivery has no run.
 */
export async function getDeliveryOrigin(db: Db, deliveryId: string) {
  const { organization, ...run } = await db
    .selectFrom('webhook_delivery')
    .innerJoin('organization', 'organization.id', 'webhook_delivery.organization_id')
    .leftJoin('run', 'run.execution_id', 'webhook_delivery.execution_id')
    .leftJoin('project', 'project.id', 'run.project_id')
    .leftJoin('flow', 'flow.id', 'run.flow_id')
    .leftJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      versionOfRun().as('version'),
      'run.mode',
      'run.environment',
      'run.trace_context as trace',
    ])
    .where('webhook_delivery.id', '=', deliveryId)
    .executeTakeFirstOrThrow();
  const { project, flow, version, mode, environment, trace } = run;
  if (project === null || flow === null || mode === null || environment === null) return { organization };
  return { organization, project, flow, version, mode, environment, trace };
}
