import { notFound } from '@tanstack/react-router';
import { $api, type Schemas } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';

export type Me = Schemas['MeUser'];
export type MyOrganization = Me['organizations'][number];
export type MyProject = MyOrganization['projects'][number];

const options = $api.queryOptions('get', '/api/v1/me');

/** Fetches who the user is and what they can reach, once; refetched when `invalidateMe` says that it changed. */
export async function loadMe(): Promise<Me> {
  return (await queryClient.ensureQueryData(options)) as Me;
}

/**
 * Refuses an address of an organization or project that is not there, or that the user cannot reach: the page says so inside
 * the shell. Without a connection to the service the page itself says what is wrong.
 */
export async function requireReachable(slugs: { org: string; project?: string }): Promise<void> {
  const { organizations } = await loadMe();
  const organization = organizations.find(({ slug }) => slug === slugs.org);
  const { project } = slugs;
  if (!organization || (project !== undefined && !organization.projects.some(({ slug }) => slug === project)))
    throw notFound();
}

/** The user, inside the shell, whose loader has fetched them. */
export function useMe(): Me {
  return $api.useSuspenseQuery('get', '/api/v1/me').data as Me;
}

/** To be called after organizations, projects or invitations have changed. */
export async function invalidateMe(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: options.queryKey });
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
