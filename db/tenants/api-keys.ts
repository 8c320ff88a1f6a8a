// API keys of projects, found by their key ids. Only the HMAC of a secret is stored.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import type { Environment, Role } from '../schema.ts';
import { DEFAULT_KEY_SCOPES, type KeyScope } from '../tables/access.ts';
import { lockProject, PROJECT_COLUMNS, type UserProject } from './projects.ts';

/** Maximum number of keys of one project that are neither revoked nor expired. */
export const ACTIVE_API_KEYS_MAX = 10;
export const TOO_MANY_API_KEYS = `The project has ${ACTIVE_API_KEYS_MAX} active API keys, the most it can have: revoke one first.`;
const API_KEYS_LISTED_MAX = 200;

const COLUMNS = [
  'id',
  'key_id',
  'project_id',
  'environment',
  'name',
  'scopes',
  'created_at',
  'expires_at',
  'revoked_at',
  'created_by',
  'last_used_at',
] as const;

/** Whether a key is neither revoked nor expired. */
const IS_LIVE_KEY = sql<boolean>`
  api_key.revoked_at is null and (api_key.expires_at is null or api_key.expires_at > now())`;

export type NewApiKey = {
  projectId: string;
  keyId: string;
  environment: Environment;
  name: string;
  secretHmac: Buffer;
  /** Absent for `DEFAULT_KEY_SCOPES`. */
  scopes?: KeyScope[];
  expiresAt?: Date;
  /** The user who creates the key; absent for an operator. */
  createdBy?: string;
};

/** Adds a key. Throws NOT_FOUND for an unknown project, CONFLICT when the project has ten active keys. */
export function insertApiKey(db: Db | Tx, key: NewApiKey) {
  return inTransaction(db, (tx) => insertInto(tx, key));
}
export type ApiKeyRow = Awaited<ReturnType<typeof insertApiKey>>;

async function insertInto(tx: Tx, key: NewApiKey) {
  // The lock keeps the count exact when several keys are added at the same time.
  await lockProject(tx, key.projectId);
  const { active } = await tx
    .selectFrom('api_key')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('project_id', '=', key.projectId)
    .where(IS_LIVE_KEY)
    .executeTakeFirstOrThrow();
  if (active >= ACTIVE_API_KEYS_MAX) throw new ServiceError('CONFLICT', TOO_MANY_API_KEYS);
  return tx
    .insertInto('api_key')
    .values({
      key_id: key.keyId,
      project_id: key.projectId,
      environment: key.environment,
      name: key.name,
      secret_hmac: key.secretHmac,
      scopes: key.scopes ?? [...DEFAULT_KEY_SCOPES],
      expires_at: key.expiresAt ?? null,
      created_by: key.createdBy ?? null,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/**
 * Finds a key, even a revoked or expired one, with the HMAC of its secret. Keys of deleted projects are not found.
 */
export function findApiKey(db: Db | Tx, keyId: string) {
  return db
    .selectFrom('api_key')
    .innerJoin('project', 'project.id', 'api_key.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'api_key.id',
      'api_key.key_id',
      'api_key.environment',
      'api_key.scopes',
      'api_key.secret_hmac',
      'api_key.expires_at',
      'api_key.revoked_at',
      'api_key.created_by',
      'api_key.project_id',
      'project.organization_id',
    ])
    .where('api_key.key_id', '=', keyId)
    .where('project.deleted_at', 'is', null)
    .where('organization.deleted_at', 'is', null)
    .executeTakeFirst();
}
export type FoundApiKey = NonNullable<Awaited<ReturnType<typeof findApiKey>>>;

/** Lists up to 200 keys of a project: keys that are not revoked first, then newest first. */
export function listApiKeys(db: Db | Tx, projectId: string): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_key')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy(sql`revoked_at is null`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(API_KEYS_LISTED_MAX)
    .execute();
}

/** Records the last use of a key, to the minute. */
export async function touchApiKey(db: Db, id: string): Promise<void> {
  await db
    .updateTable('api_key')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        eb('last_used_at', 'is', null),
        eb('last_used_at', '<', sql<Date>`now() - interval '1 minute'`),
      ]),
    )
    .execute();
}

/** Revokes a key; does nothing for a revoked key. Throws NOT_FOUND when the project has no such key. */
export async function revokeApiKey(
  db: Db | Tx,
  projectId: string,
  keyId: string,
): Promise<{ row: ApiKeyRow; changed: boolean }> {
  const revoked = await db
    .updateTable('api_key')
    .set({ revoked_at: sql`now()` })
    .where('project_id', '=', projectId)
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (revoked) return { row: revoked, changed: true };
  const row = await db
    .selectFrom('api_key')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  if (!row) throw new ServiceError('NOT_FOUND', `The project has no API key ${keyId}.`);
  return { row, changed: false };
}

/** Finds the project of an API key, in which the key is a member; undefined when the key is revoked or expired. */
export function findKeyProject(db: Db, apiKeyId: string): Promise<UserProject | undefined> {
  return db
    .selectFrom('api_key')
    .innerJoin('project', 'project.id', 'api_key.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select(PROJECT_COLUMNS)
    .select(sql<Role>`'member'`.as('role'))
    .where('api_key.id', '=', apiKeyId)
    .where(IS_LIVE_KEY)
    .where('project.deleted_at', 'is', null)
    .where('organization.deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Gets an API key by its row's id, with the names of its project and organization. Throws NOT_FOUND. */
export async function getKeyDetails(db: Db, id: string) {
  const row = await db
    .selectFrom('api_key')
    .innerJoin('project', 'project.id', 'api_key.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'api_key.key_id',
      'api_key.name',
      'api_key.environment',
      'api_key.scopes',
      'api_key.expires_at',
      'project.id as project_id',
      'project.slug as project_slug',
      'project.name as project_name',
      'organization.id as organization_id',
      'organization.slug as organization_slug',
      'organization.name as organization_name',
    ])
    .where('api_key.id', '=', id)
    .executeTakeFirst();
  if (!row) throw new ServiceError('NOT_FOUND', 'There is no such API key.');
  return row;
}
