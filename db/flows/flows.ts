// Flows and their drafts. Published versions are in versions.ts.
import { sql } from 'kysely';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { pickChanges } from '../tenants/organizations.ts';
import { lockProject } from '../tenants/projects.ts';

/** Maximum number of flows of an organization that are not deleted: a list of its runs reads each. */
export const FLOWS_MAX = 5_000;

const COLUMNS = [
  'id',
  'project_id',
  'slug',
  'name',
  'description',
  'draft',
  'production_version',
  'created_at',
  'updated_at',
] as const;

type NewFlow = {
  projectId: string;
  slug: string;
  name: string;
  description?: string;
  /** The draft; without it the flow has no steps. */
  definition?: FlowDefinition;
};

/**
 * Inserts a flow. Throws NOT_FOUND for an unknown project, and CONFLICT when the slug is taken or the organization has as many
 * flows as it may have; those made in several of its projects at the same moment are not counted against each other.
 */
export function insertFlow(db: Db | Tx, flow: NewFlow) {
  return inTransaction(db, (tx) => insertInto(tx, flow));
}
export type FlowRow = Awaited<ReturnType<typeof insertFlow>>;

async function insertInto(tx: Tx, flow: NewFlow) {
  await lockProject(tx, flow.projectId);
  if ((await countFlowsBeside(tx, flow.projectId)) >= FLOWS_MAX) throw tooManyFlows();
  const row = await tx
    .insertInto('flow')
    .values({
      project_id: flow.projectId,
      slug: flow.slug,
      name: flow.name,
      description: flow.description ?? '',
      draft: JSON.stringify(flow.definition ?? { steps: [] }),
    })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'slug']).where('deleted_at', 'is', null).doNothing(),
    )
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) throw flowSlugTaken(flow.slug);
  return row;
}

/** Counts the flows of a project's organization. */
async function countFlowsBeside(tx: Tx, projectId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('project as own')
    .innerJoin('project', 'project.organization_id', 'own.organization_id')
    .innerJoin('flow', 'flow.project_id', 'project.id')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('own.id', '=', projectId)
    .where('project.deleted_at', 'is', null)
    .where('flow.deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

function tooManyFlows(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `An organization can have at most ${FLOWS_MAX.toLocaleString('en')} flows: delete one first.`,
  );
}

export function flowSlugTaken(slug: string): ServiceError {
  return new ServiceError('CONFLICT', `The project already has a flow with the slug ${slug}.`);
}

export function findFlowBySlug(db: Db | Tx, projectId: string, slug: string): Promise<FlowRow | undefined> {
  return db
    .selectFrom('flow')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Replaces the draft. Runs are not affected. Throws NOT_FOUND. */
export async function updateDraft(db: Db | Tx, flowId: string, definition: FlowDefinition): Promise<void> {
  const result = await db
    .updateTable('flow')
    .set({ draft: JSON.stringify(definition), updated_at: sql`now()` })
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) throw flowIdNotFound();
}

/** Sets the name and the description, where given, and returns whether anything changed. Throws NOT_FOUND. */
export async function updateNames(
  tx: Tx,
  flowId: string,
  named: { name?: string; description?: string },
): Promise<boolean> {
  const flow = await tx
    .selectFrom('flow')
    .select(['name', 'description'])
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!flow) throw flowIdNotFound();
  const changes = pickChanges(flow, named);
  if (Object.keys(changes).length === 0) return false;
  await tx
    .updateTable('flow')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', flowId)
    .execute();
  return true;
}

export function flowIdNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such flow.');
}

/**
 * Marks a flow as deleted and returns its slug, which is free: new runs are rejected, its rows stay. Throws
 * NOT_FOUND.
 */
export async function deleteFlow(tx: Tx, flowId: string): Promise<string> {
  const row = await tx
    .updateTable('flow')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .returning('slug')
    .executeTakeFirst();
  if (!row) throw flowIdNotFound();
  return row.slug;
}
