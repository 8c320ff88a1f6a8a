import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { notFound } from '@tanstack/react-router';
import { isMissing } from '../api/api-error.ts';
import { $api, api, type Schemas } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { readLastSlugs } from './last-project.ts';

type Me = Schemas['MeUser'];
export type MyOrganization = Me['organizations'][number];
type MyProject = MyOrganization['projects'][number];

type Slugs = { org: string; project?: string };

/** The addresses that were opened of organizations and projects beyond those that GET /me lists. */
const others = new Map<string, Slugs>();

const { queryKey } = $api.queryOptions('get', '/api/v1/me');
const options = queryOptions({ queryKey, queryFn: fetchMe });

/** Fetches the user with the first 200 organizations and projects, and the others that were opened, once or at last. */
async function fetchMe(): Promise<Me> {
  const me = (await api.GET('/api/v1/me')).data as Me;
  const last = readLastSlugs();
  if (last) others.set(JSON.stringify(last), last);
  if (me.hasMore)
    for (const [key, slugs] of others)
      await addPlace(me, slugs).catch((error) => {
        if (!isMissing(error)) throw error;
        others.delete(key);
      });
  return me;
}

/** Looks up what `me` lacks of an address. Throws when there is no such thing. */
async function addPlace(me: Me, slugs: Slugs): Promise<void> {
  let organization = me.organizations.find(({ slug }) => slug === slugs.org);
  if (!organization) {
    const params = { path: { slug: slugs.org } };
    const { data } = await api.GET('/api/v1/organizations/by-slug/{slug}', { params });
    organization = { ...(data as Schemas['Organization']), projects: [] };
    me.organizations.push(organization);
  }
  if (slugs.project === undefined || hasPlace(me, slugs)) return;
  const params = { path: { slug: slugs.project }, query: { organization_id: organization.id } };
  const { data } = await api.GET('/api/v1/projects/by-slug/{slug}', { params });
  organization.projects.push(data as Schemas['Project']);
}

function hasPlace({ organizations }: Me, { org, project }: Slugs): boolean {
  const organization = organizations.find(({ slug }) => slug === org);
  if (project === undefined) return organization !== undefined;
  return organization?.projects.some(({ slug }) => slug === project) ?? false;
}

/** Fetches who the user is and what they can reach, once; refetched when `invalidateMe` says that it changed. */
export async function loadMe(): Promise<Me> {
  return await queryClient.ensureQueryData(options);
}

/**
 * Refuses an address of an organization or project that is not there, or that the user cannot reach: the page says so inside
 * the shell. Without a connection to the service the page itself says what is wrong.
 */
export async function requireReachable(slugs: Slugs): Promise<void> {
  if (hasPlace(await loadMe(), slugs)) return;
  // It may be beyond those that were listed, or have been made meanwhile.
  others.set(JSON.stringify(slugs), slugs);
  await queryClient.refetchQueries({ queryKey }, { throwOnError: true });
  if (!hasPlace(await loadMe(), slugs)) throw notFound();
}

/** The user, inside the shell, whose loader has fetched them. */
export function useMe(): Me {
  return useSuspenseQuery(options).data;
}

/** To be called after organizations, projects or invitations have changed. */
export async function invalidateMe(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
}

/** The organization with this slug that the user belongs to. Shows "not found" when there is none. */
export function useOrganization(slug: string): MyOrganization {
  const found = useMe().organizations.find((organization) => organization.slug === slug);
  if (!found) throw notFound();
  return found;
}

/** The project with this slug, and its organization. Shows "not found" when there is none. */
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

/** Whether the user's role in the organization is at least this one. */
export function hasRole({ role }: MyOrganization, needed: keyof typeof RANKS): boolean {
  return RANKS[role] >= RANKS[needed];
}
