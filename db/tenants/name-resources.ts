// The names of what audit entries are about.
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { Db } from '../connect.ts';
import type { AuditEntryRow } from './audit-entries.ts';

/** `project` and `flow` are slugs. */
export type NamedResource = { name: string | null; project?: string; flow?: string };

/**
 * Names the flows, projects, API keys and members of an organization to which entries refer, by their ids. Deleted ones
 * have no name.
 */
export async function nameResources(
  db: Db,
  organizationId: string,
  entries: Pick<AuditEntryRow, 'resource_id' | 'details'>[],
): Promise<Map<string, NamedResource>> {
  const ids = [...new Set(entries.flatMap(idsOf))];
  const named = new Map<string, NamedResource>();
  if (ids.length === 0) return named;
  const uuids = ids.filter((id) => UUID_PATTERN.test(id));
  const ofProjects = db
    .selectFrom('project')
    .where('project.organization_id', '=', organizationId)
    .where('project.deleted_at', 'is', null);
  const [members, keys, projects, flows] = await Promise.all([
    db
      .selectFrom('member_profile')
      .select(['user_id as id', 'name', 'email'])
      .where('organization_id', '=', organizationId)
      .where('user_id', 'in', ids)
      .execute(),
    ofProjects
      .innerJoin('api_key', 'api_key.project_id', 'project.id')
      .select(['api_key.key_id as id', 'api_key.name', 'project.slug as project'])
      .where('api_key.key_id', 'in', ids)
      .execute(),
    uuids.length === 0
      ? []
      : ofProjects
          .select(['project.id', 'project.name', 'project.slug as project'])
          .where('project.id', 'in', uuids)
          .execute(),
    uuids.length === 0
      ? []
      : ofProjects
          .innerJoin('flow', 'flow.project_id', 'project.id')
          .select(['flow.id', 'flow.name', 'flow.slug as flow', 'project.slug as project'])
          .where('flow.id', 'in', uuids)
          .where('flow.deleted_at', 'is', null)
          .execute(),
  ]);
  for (const { id, name, email } of members) named.set(id, { name: name ?? email });
  for (const { id, ...resource } of [...keys, ...projects, ...flows]) named.set(id, resource);
  return named;
}

/** Returns the ids in an entry: of its resource, then of the flow or project to which the resource belongs. */
export function idsOf({ resource_id, details }: Pick<AuditEntryRow, 'resource_id' | 'details'>): string[] {
  const { flow_id, project_id } = details as Record<string, unknown>;
  return [resource_id, flow_id, project_id].filter((id) => typeof id === 'string');
}
