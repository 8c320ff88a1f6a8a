// Flows as members of the organization see and edit them. Drafts, which may have megabytes, are loaded separately.
import { sql } from 'kysely';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { Db, Tx } from '../connect.ts';

/** Selects flows without their drafts. `draft_is_latest`: the draft equals the latest version. */
function designs(db: Db | Tx) {
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'flow.id',
      'flow.slug',
      'flow.name',
      'flow.description',
      'flow.production_version',
      'flow.project_id',
      'project.slug as project_slug',
      'organization.id as organization_id',
      'organization.slug as organization_slug',
      'organization.balance_microcredits',
      'organization.runs_under_way_max',
      'organization.suspended_at',
      'organization.suspension_reason',
    ])
    .select(({ selectFrom }) => {
      const versions = selectFrom('flow_version').whereRef('flow_version.flow_id', '=', 'flow.id');
      const latest = versions.where(
        'flow_version.version',
        '=',
        selectFrom('flow_version as other')
          .select((eb) => eb.fn.max('other.version').as('max'))
          .whereRef('other.flow_id', '=', 'flow.id'),
      );
      return [
        versions
          .select('flow_version.id')
          .whereRef('flow_version.version', '=', 'flow.production_version')
          .as('production_version_id'),
        latest.select('flow_version.version').as('latest_version'),
        latest.select(isSameAsDraft('flow_version').as('same')).as('draft_is_latest'),
      ];
    })
    .where('organization.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null)
    .where('flow.deleted_at', 'is', null);
}

/** Selects the flows that a user may see. */
function designsOf(db: Db | Tx, userId: string) {
  return designs(db)
    .innerJoin('membership', 'membership.organization_id', 'organization.id')
    .where('membership.user_id', '=', userId);
}
export type FlowDesign = NonNullable<Awaited<ReturnType<typeof findFlowDesign>>>;

/** Finds a flow and locks it with the user's membership, until the transaction ends. */
export function findFlowDesign(db: Db | Tx, userId: string, flowId: string) {
  return designsOf(db, userId).where('flow.id', '=', flowId).executeTakeFirst();
}

/** Finds a flow and locks it with the user's membership: nobody else changes either before the transaction ends. */
export function lockFlowDesign(tx: Tx, userId: string, flowId: string): Promise<FlowDesign | undefined> {
  return designsOf(tx, userId)
    .where('flow.id', '=', flowId)
    .forNoKeyUpdate('flow')
    .forShare('membership')
    .executeTakeFirst();
}

/** Finds a flow of a project that the caller may access, with its draft. */
export function findFlowOfProject(db: Db, projectId: string, flowId: string) {
  return designs(db)
    .select('flow.draft')
    .where('flow.project_id', '=', projectId)
    .where('flow.id', '=', flowId)
    .executeTakeFirst();
}

/** Finds such a flow without its draft. */
export function findFlowHead(db: Db, projectId: string, flowId: string) {
  return db
    .selectFrom('flow')
    .select(['id', 'production_version'])
    .where('project_id', '=', projectId)
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Finds such a flow without its draft and locks it until the transaction ends. */
export function lockFlowOfProject(
  tx: Tx,
  projectId: string,
  flowId: string,
): Promise<FlowDesign | undefined> {
  return designs(tx)
    .where('flow.project_id', '=', projectId)
    .where('flow.id', '=', flowId)
    .forNoKeyUpdate('flow')
    .executeTakeFirst();
}

/** Finds the draft of a flow, with its digest in the database. */
export function findDraft(db: Db, flowId: string) {
  return db
    .selectFrom('flow')
    .select(['draft', 'draft_digest as digest'])
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

const draftBytes = sql<number>`octet_length(flow.draft::text)`;

/** Returns the size of a draft as JSON, in bytes; 0 without such a flow. */
export async function measureDraft(db: Db, flowId: string): Promise<number> {
  const row = await db
    .selectFrom('flow')
    .select(draftBytes.as('bytes'))
    .where('id', '=', flowId)
    .executeTakeFirst();
  return row?.bytes ?? 0;
}

/** Lists the flows of a project by slug, starting after the slug `after`, with the sizes of their drafts in bytes. */
export function listFlowDesigns(
  db: Db,
  userId: string,
  projectId: string,
  { after, limit }: { after: string; limit: number },
) {
  return designsOf(db, userId)
    .select(draftBytes.as('bytes'))
    .where('flow.project_id', '=', projectId)
    .where('flow.slug', '>', after)
    .orderBy('flow.slug')
    .limit(limit)
    .execute();
}
export type ListedFlowDesign = Awaited<ReturnType<typeof listFlowDesigns>>[number];

/** Loads the drafts of flows, by their ids. */
export async function loadDrafts(db: Db | Tx, flowIds: string[]): Promise<Map<string, FlowDefinition>> {
  const rows = await db.selectFrom('flow').select(['id', 'draft']).where('id', 'in', flowIds).execute();
  return new Map(rows.map(({ id, draft }) => [id, draft]));
}

/** Whether the draft of `flow` is the definition of a version, by the name of its row in the query. null without the version. */
export function isSameAsDraft(version: string) {
  return sql<boolean | null>`${sql.ref(`${version}.definition_digest`)} = flow.draft_digest`;
}
