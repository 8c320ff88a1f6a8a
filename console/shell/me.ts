import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { notFound } from '@tanstack/react-router';
import { useCallback } from 'react';
import { isMissing } from '../api/api-error.ts';
import { $api, api, queryClient, type Schemas } from '../api/client.ts';
import { readLastSlugs } from './last-project.ts';

const MEMBERS_MAX = 200;

type Me = Schemas['MeUser'];
export type MyOrganization = Me['organizations'][number];
type MyProject = MyOrganization['projects'][number];

type Slugs = { org: string; project?: string };

/** Visited organizations and projects that GET /api/v1/me may not list. */
const others = new Map<string, Slugs>();

const { queryKey } = $api.queryOptions('get', '/api/v1/me');
const options = queryOptions({ queryKey, queryFn: fetchMe });

/** Fetches the user with the first 200 organizations and projects, and the other visited ones. */
async function fetchMe(): Promise<Me> {
  const me = (await api.GET('/api/v1/me')).data as Me;
  const last = readLastSlugs();
  if (last) others.set(JSON.stringify(last), last);
  if (me.hasMore)
    for (const [key, slugs] of others)
      await addMissing(me, slugs).catch((error) => {
        if (!isMissing(error)) throw error;
        others.delete(key);
      });
  return me;
}

/** Adds the organization and project of an address to `me`. Throws when they do not exist. */
async function addMissing(me: Me, slugs: Slugs): Promise<void> {
  let organization = me.organizations.find(({ slug }) => slug === slugs.org);
  if (!organization) {
    const params = { path: { slug: slugs.org } };
    const { data } = await api.GET('/api/v1/organizations/by-slug/{slug}', { params });
    organization = { ...(data as Schemas['Organization']), projects: [] };
    me.organizations.push(organization);
  }
  if (slugs.project === undefined || isListed(me, slugs)) return;
  const params = { path: { slug: slugs.project }, query: { organization_id: organization.id } };
  const { data } = await api.GET('/api/v1/projects/by-slug/{slug}', { params });
  organization.projects.push(data as Schemas['Project']);
}

function isListed({ organizations }: Me, { org, project }: Slugs): boolean {
  const organization = organizations.find(({ slug }) => slug === org);
  if (project === undefined) return organization !== undefined;
  return organization?.projects.some(({ slug }) => slug === project) ?? false;
}

/** Fetches the user once; `invalidateMe` fetches again. */
export async function loadMe(): Promise<Me> {
  return await queryClient.ensureQueryData(options);
}

/**
 * Throws "not found" for an organization or project that does not exist or that the user cannot reach; the page says so
 * inside the shell. When the service is unreachable the page itself shows the error.
 */
export async function requireReachable(slugs: Slugs): Promise<void> {
  if (isListed(await loadMe(), slugs)) return;
  // It may not be among those listed, or be new.
  others.set(JSON.stringify(slugs), slugs);
  await queryClient.refetchQueries({ queryKey }, { throwOnError: true });
  if (!isListed(await loadMe(), slugs)) throw notFound();
}

/** Returns the user, whom the loader of the shell has fetched. */
export function useMe(): Me {
  return useSuspenseQuery(options).data;
}

/** Fetches the user again. Call it after a change of organizations, projects or invitations. */
export async function invalidateMe(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
}

/** Returns the user's organization with this slug. Shows "not found" when there is none. */
export function useOrganization(slug: string): MyOrganization {
  const found = useMe().organizations.find((organization) => organization.slug === slug);
  if (!found) throw notFound();
  return found;
}

/** Returns the project with this slug and its organization. Shows "not found" when there is none. */
export function useProject(slugs: { org: string; project: string }): {
  organization: MyOrganization;
  project: MyProject;
} {
  const organization = useOrganization(slugs.org);
  const project = organization.projects.find(({ slug }) => slug === slugs.project);
  if (!project) throw notFound();
  return { organization, project };
}

const RANKS = { member: 0, admin: 1, owner: 2 } as const;

/** Whether the user has at least this role in the organization. */
export function hasRole({ role }: MyOrganization, needed: keyof typeof RANKS): boolean {
  return RANKS[role] >= RANKS[needed];
}

/**
 * Returns a function that names a user of an organization: `you`, the member's name or e-mail address, or the id of a
 * user who is not a member.
 */
export function useUserName(organizationId: string): (userId: string) => string {
  const me = useMe();
  const { data, isPending } = $api.useQuery('get', '/api/v1/organizations/{org_id}/members', {
    params: { path: { org_id: organizationId }, query: { limit: MEMBERS_MAX } },
  });
  return useCallback(
    (userId) => {
      if (userId === me.userId) return 'you';
      const member = data?.members.find(({ user_id }) => user_id === userId);
      return member?.name ?? member?.email ?? (isPending ? '…' : userId);
    },
    [me.userId, data, isPending],
  );
}
