import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import type { Role } from '../schema.ts';
import { IS_LIVE_KEY } from './api-keys.ts';
import { PROJECT_COLUMNS, type UserProject } from './user-projects.ts';

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
