// Finds organizations, projects and flows over HTTP by their path (`org/project/flow`), runs by their id, and the caller.
import { ServiceError } from '../../flow/errors.ts';
import { splitPath } from '../terminal/parse-path.ts';
import { callApi } from './call-api.ts';
import { getMe, type Named } from './get-me.ts';
import { listAll } from './list-all.ts';

export type Flow = {
  id: string;
  projectId: string;
  slug: string;
  name: string;
  description: string;
  productionVersion: number | null;
  latestVersion: number | null;
  draftIsProduction: boolean;
  draftIsPublished: boolean;
  updatedAt: string;
};

/** Finds an organization by its slug. Throws NOT_FOUND, as the other functions here do. */
export async function getOrganization(slug: string): Promise<Named> {
  const me = await getMe();
  if (me.kind === 'api_key')
    return me.organization.slug === slug ? me.organization : unknown('organization', slug);
  const known = me.organizations.find((one) => one.slug === slug);
  return known ?? (me.hasMore ? bySlug('organization', slug) : unknown('organization', slug));
}

export async function getProject(path: string): Promise<Named & { organizationId: string }> {
  const [organizationSlug = '', slug = ''] = splitPath(path, 'org/project');
  const { id: organizationId } = await getOrganization(organizationSlug);
  const me = await getMe();
  const projects =
    me.kind === 'api_key' ? [me.project] : me.organizations.find(({ id }) => id === organizationId)?.projects;
  const known = projects?.find((one) => one.slug === slug);
  if (known) return { ...known, organizationId };
  if (me.kind === 'api_key' || !me.hasMore) return unknown('project', path);
  return { ...(await bySlug('project', slug, { organization_id: organizationId })), organizationId };
}

export async function getFlow(path: string): Promise<Flow> {
  const [organization, project, slug] = splitPath(path, 'org/project/flow');
  const { id } = await getProject(`${organization}/${project}`);
  const flows = await listAll<Flow>(`/api/v1/projects/${id}/flows`, 'flows');
  const flow = flows.find((one) => one.slug === slug);
  return flow ?? unknown('flow', path);
}

function bySlug(kind: 'organization' | 'project', slug: string, query = {}): Promise<Named> {
  return callApi<Named>('GET', `/api/v1/${kind}s/by-slug/${encodeURIComponent(slug)}`, { query });
}

function unknown(kind: string, path: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `There is no ${kind} ${path} that you can reach. weir whoami says who you are and what that is.`,
  );
}
