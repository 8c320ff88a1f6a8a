import { ServiceError } from '../../flow/errors.ts';
import type { Db } from '../connect.ts';

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
