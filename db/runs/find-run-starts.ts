import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { CALL_IDS, isOfCancelledRun, versionOfRun } from './run-columns.ts';

/**
 * Finds a call by its id, with its state and the data to start its workflow, except the definition, which may be
 * large.
 */
export function findCall(db: Db, callId: string) {
  return selectCalls(db, [callId]).executeTakeFirst();
}

/** Finds calls by their ids, with their state and the data to start their workflows. */
export async function findRunStarts(db: Db, callIds: string[]) {
  if (callIds.length === 0) return [];
  return selectCalls(db, callIds).select('flow_version.definition').execute();
}

function selectCalls(db: Db, callIds: string[]) {
  return db
    .selectFrom('run')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      ...CALL_IDS,
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      versionOfRun().as('version'),
      'run.mode',
      'run.environment',
      'run.flow_version_id as flowVersionId',
      'run.flow_id as flowId',
      'run.step_from as from',
      'run.step_to as to',
      'run.trace_context as trace',
      'run.status',
      'run.result',
      'run.error',
      'run.pause',
      'run.concluded_by',
      'run.cancel_requested_at as cancelRequestedAt',
    ])
    .select([
      sql<boolean>`run.callback_url is not null`.as('callback'),
      isOfCancelledRun().as('isOfCancelled'),
    ])
    .where('run.execution_id', 'in', callIds);
}
