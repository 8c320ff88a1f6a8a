// Published versions of flows: immutable and numbered from 1; one of them is in production.
import { type NotNull, sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { isSameAsDraft } from './flow-designs.ts';
import { flowIdNotFound } from './flows.ts';

/** Maximum number of versions of a flow: each publication reads their sizes, under the flow's lock. */
export const VERSIONS_MAX = 10_000;
/** Maximum size of a flow's versions in the database, compressed, in bytes. */
export const VERSIONS_MAX_BYTES = 256 * 1024 * 1024;

/** The draft of a flow has changed since its check. */
export class DraftChanged extends Error {
  override readonly name = 'DraftChanged';
}

/** Locks the draft with the digest `checked` until the transaction ends. Throws NOT_FOUND, and DraftChanged for another digest. */
export async function lockDraft(tx: Tx, flowId: string, checked: Buffer): Promise<void> {
  const { draft_digest } = await lockFlow(tx, flowId);
  if (!draft_digest.equals(checked)) throw new DraftChanged();
}

async function lockFlow(tx: Tx, flowId: string) {
  const flow = await tx
    .selectFrom('flow')
    .select('draft_digest')
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!flow) throw flowIdNotFound();
  return flow;
}

/** Finds the number of the latest version of a flow, when that version is the same as the draft. */
export async function findVersionOfDraft(tx: Tx, flowId: string): Promise<number | undefined> {
  const latest = await tx
    .selectFrom('flow_version')
    .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
    .select(['flow_version.version', isSameAsDraft('flow_version').as('is_same')])
    .where('flow_version.flow_id', '=', flowId)
    .where('flow_version.version', 'is not', null)
    .$narrowType<{ version: NotNull }>()
    .orderBy('flow_version.version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return latest?.is_same ? latest.version : undefined;
}

/**
 * Publishes the draft as the next version and returns its number. `publishedBy` is an actor of the audit log. Throws NOT_FOUND,
 * and CONFLICT at the maximum number or size of versions.
 */
export function publishVersion(
  db: Db | Tx,
  flowId: string,
  note: string,
  { publishedBy = null }: { publishedBy?: string | null } = {},
): Promise<number> {
  return inTransaction(db, async (tx) => {
    // So that concurrent publishers get consecutive numbers.
    await lockFlow(tx, flowId);
    const { newest, bytes } = await tx
      .selectFrom('flow_version')
      .select([
        sql<number>`coalesce(max(version), 0)`.as('newest'),
        sql<number>`coalesce(sum(pg_column_size(definition)), 0)::bigint`.as('bytes'),
      ])
      .where('flow_id', '=', flowId)
      .where('version', 'is not', null)
      .executeTakeFirstOrThrow();
    if (newest >= VERSIONS_MAX) throw tooManyVersions();
    if (bytes >= VERSIONS_MAX_BYTES) throw tooLargeVersions();
    const { version } = await tx
      .insertInto('flow_version')
      .columns(['flow_id', 'version', 'note', 'definition', 'published_by'])
      .expression((eb) =>
        eb
          .selectFrom('flow')
          .select((flow) => [
            'flow.id',
            flow.val(newest + 1).as('version'),
            flow.val(note).as('note'),
            'flow.draft',
            flow.val(publishedBy).as('published_by'),
          ])
          .where('flow.id', '=', flowId),
      )
      .returning('version')
      .$narrowType<{ version: NotNull }>()
      .executeTakeFirstOrThrow();
    return version;
  });
}

const PUBLISH_ELSEWHERE = 'publish further ones from another flow, or delete this flow and create it anew.';

function tooLargeVersions(): ServiceError {
  const most = VERSIONS_MAX_BYTES / 1024 / 1024;
  return new ServiceError(
    'CONFLICT',
    `The versions of the flow take ${most} MiB, the most they can: ${PUBLISH_ELSEWHERE}`,
  );
}

export function tooManyVersions(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `A flow can have at most ${VERSIONS_MAX} versions: ${PUBLISH_ELSEWHERE}`,
  );
}

/** Makes a published version the production version, which unversioned calls run. Throws NOT_FOUND. */
export async function setProductionVersion(db: Db | Tx, flowId: string, version: number): Promise<void> {
  const result = await db
    .updateTable('flow')
    .set({ production_version: version, updated_at: sql`now()` })
    .where('id', '=', flowId)
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('flow_version')
          .select('flow_version.id')
          .whereRef('flow_version.flow_id', '=', 'flow.id')
          .where('flow_version.version', '=', version),
      ),
    )
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) throw versionNotFound(version);
}

/**
 * Lists the published versions of a flow, newest first, without definitions; with `page`, those `before` a version.
 */
export function listVersions(
  db: Db | Tx,
  flowId: string,
  page?: { before?: number | undefined; limit: number },
) {
  return db
    .selectFrom('flow_version')
    .select(['id', 'version', 'note', 'created_at', 'published_by'])
    .where('flow_id', '=', flowId)
    .where('version', 'is not', null)
    .$if(page?.before !== undefined, (query) => query.where('version', '<', page?.before as number))
    .$if(page !== undefined, (query) => query.limit(page?.limit as number))
    .$narrowType<{ version: NotNull }>()
    .orderBy('version', 'desc')
    .execute();
}

const definitionBytes = sql<number>`octet_length(definition::text)`;

/** Returns the size of a published version's definition as JSON, in bytes; 0 without such a version. */
export async function measureVersion(db: Db, flowId: string, version: number): Promise<number> {
  const row = await db
    .selectFrom('flow_version')
    .select(definitionBytes.as('bytes'))
    .where('flow_id', '=', flowId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.bytes ?? 0;
}

/** Gets a published version. Throws NOT_FOUND. */
export async function getVersion(db: Db | Tx, flowId: string, version: number) {
  const row = await db
    .selectFrom('flow_version')
    .select(['id', 'version', 'note', 'definition', 'created_at', 'published_by'])
    .where('flow_id', '=', flowId)
    .where('version', '=', version)
    .$narrowType<{ version: NotNull }>()
    .executeTakeFirst();
  if (!row) throw versionNotFound(version);
  return row;
}

/** Finds the id of a published version; undefined when there is none. */
export async function findVersion(
  db: Db,
  flowId: string,
  version: number | 'production',
): Promise<string | undefined> {
  const row = await db
    .selectFrom('flow_version')
    .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
    .select('flow_version.id')
    .where('flow.id', '=', flowId)
    .where((eb) =>
      eb('flow_version.version', '=', version === 'production' ? eb.ref('flow.production_version') : version),
    )
    .executeTakeFirst();
  return row?.id;
}

/** Finds a published version of a flow by its id: its number, and the size of its definition as JSON. */
export function findVersionById(db: Db | Tx, flowId: string, versionId: string) {
  return db
    .selectFrom('flow_version')
    .select(['version', definitionBytes.as('bytes')])
    .where('flow_id', '=', flowId)
    .where('id', '=', versionId)
    .where('version', 'is not', null)
    .$narrowType<{ version: NotNull }>()
    .executeTakeFirst();
}

export function versionNotFound(version: number): ServiceError {
  return new ServiceError('NOT_FOUND', `The flow has no published version ${version}.`);
}
