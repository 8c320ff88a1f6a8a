import { useCallback, useMemo } from 'react';
import { $api } from '../api/client.ts';
import { hasRole, type useProject, useUserName } from './me.ts';
import { nameActor } from './name-actor.ts';

type Found = ReturnType<typeof useProject>;

/** Returns the names of a project's API keys by key id; none to members, who may not list keys. */
export function useKeyNames({ organization, project }: Found): ReadonlyMap<string, string> {
  const { data } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/api-keys',
    { params: { path: { project_id: project.id } } },
    { enabled: hasRole(organization, 'admin') },
  );
  return useMemo(() => new Map(data?.apiKeys.map(({ keyId, name }) => [keyId, name])), [data]);
}

/** Returns a function that names the actor of a change in a project, as `nameActor` does. */
export function useActorName(found: Found): (actor: string) => string {
  const nameOfUser = useUserName(found.organization.id);
  const keyNames = useKeyNames(found);
  return useCallback((actor) => nameActor(actor, keyNames, nameOfUser), [keyNames, nameOfUser]);
}
