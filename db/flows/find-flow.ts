import { type NotNull, sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { RUN_LIMITS } from '../tenants/limits.ts';
import { hasProjectAccess, type ProjectAccess } from '../tenants/projects.ts';

export type VisibleFlow = NonNullable<Awaited<ReturnType<typeof findVisibleFlow>>>;

type FlowQuery = {
  /** The slugs of organization, project and flow. */
  organization: string;
  project: string;
  flow: string;
  within: ProjectAccess;
};

/** Finds the published version of a flow that a caller may run; undefined when the caller can access none. */
export function findFlowForRun(
  db: Db,
  { version, ...query }: FlowQuery & { version: number | 'production' },
) {
  return selectFlows(db, query)
    .where('flow.deleted_at', 'is', null)
    .innerJoin('flow_version', 'flow_version.flow_id', 'flow.id')
    .select([...RUN_LIMITS, 'flow_version.id as flowVersionId', 'flow_version.version'])
    .where((eb) =>
      eb('flow_version.version', '=', version === 'production' ? eb.ref('flow.production_version') : version),
    )
    .$narrowType<{ version: NotNull }>()
    .executeTakeFirst();
}

/**
 * Finds a flow whose runs a caller may read, published or not; with a `version`, only when the flow has it. With an
 * `executionId`, also finds the deleted flow that had the slug and this run. A deleted flow keeps only versions with
 * runs, so the path of a repeated run need not name one.
 */
export function findFlowOfRuns(
  db: Db,
  {
    version,
    executionId,
    ...query
  }: FlowQuery & { version: number | undefined; executionId: string | undefined },
) {
  const ofRun = sql<string>`(select flow_id from run where execution_id = ${executionId ?? null}::uuid)`;
  return selectFlows(db, query)
    .where((eb) => eb.or([eb('flow.deleted_at', 'is', null), eb('flow.id', '=', ofRun)]))
    .orderBy(sql`flow.id = ${ofRun} is true`, 'desc')
    .limit(1)
    .$if(version !== undefined, (flow) =>
      flow.where((eb) =>
        eb.or([
          eb('flow.deleted_at', 'is not', null),
          eb.exists(
            eb
              .selectFrom('flow_version')
              .select('flow_version.id')
              .whereRef('flow_version.flow_id', '=', 'flow.id')
              .where('flow_version.version', '=', version as number),
          ),
        ]),
      ),
    )
    .executeTakeFirst();
}

/** Selects the flow with these slugs, and deleted flows that had them. */
function selectFlows(db: Db, query: FlowQuery) {
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select(['organization.id as organizationId', 'project.id as projectId', 'flow.id as flowId'])
    .where('organization.slug', '=', query.organization)
    .where('organization.deleted_at', 'is', null)
    .where('project.slug', '=', query.project)
    .where('project.deleted_at', 'is', null)
    .where(hasProjectAccess(query.within))
    .where('flow.slug', '=', query.flow);
}

function visibleFlows(db: Db | Tx, flowId: string, access: ProjectAccess) {
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'flow.id as flowId',
      'project.id as projectId',
      'organization.id as organizationId',
      ...RUN_LIMITS,
    ])
    .where('flow.id', '=', flowId)
    .where('flow.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null)
    .where('organization.deleted_at', 'is', null)
    .where(hasProjectAccess(access));
}

/**
 * Finds a flow, without its draft, and its organization's limits for runs, unless the flow is deleted or the caller
 * has no access.
 */
export function findVisibleFlow(db: Db, flowId: string, access: ProjectAccess) {
  return visibleFlows(db, flowId, access).executeTakeFirst();
}

/** Finds and locks a flow in the same way, until the transaction ends. */
export function lockVisibleFlow(
  tx: Tx,
  flowId: string,
  access: ProjectAccess,
): Promise<VisibleFlow | undefined> {
  return visibleFlows(tx, flowId, access).forNoKeyUpdate('flow').executeTakeFirst();
}
