// Finds organizations, projects and flows over HTTP by their path (`org/project/flow`), runs by their id, and the caller.

import { z } from 'zod';
import type { meRecord } from '../../api/organizations/me-schema.ts';
import type { listedRuns } from '../../api/runs/run-shapes/answers.ts';
import { ServiceError } from '../../flow/errors.ts';
import { splitPath } from '../terminal/parse-argument.ts';
import { callApi, listAll } from './call-api.ts';
import { forgetSignIn, useSignIn } from './credential.ts';
import { serviceUrl } from './service-url.ts';
import { notWeir } from './to-error.ts';

export type ListedRun = z.output<typeof listedRuns>['runs'][number];

export type Me = z.output<typeof meRecord>;

export type Named = { id: string; slug: string; name: string };

let asked: Promise<Me> | undefined;
const named = z.looseObject({ id: z.string(), slug: z.string(), name: z.string() });

const text = z.string().nullable();

/** The fields of the answer that commands read. A newer service may have other roles and scopes. */
const shape = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('user'),
    userId: z.string(),
    name: text,
    email: text,
    organizations: z.array(z.looseObject({ ...named.shape, role: z.string(), projects: z.array(named) })),
    invitations: z.array(z.looseObject({ id: z.string(), role: z.string(), organization: named })),
    operator: z.boolean().optional(),
    hasMore: z.boolean(),
  }),
  z.looseObject({ kind: z.literal('operator'), keyId: z.string(), name: z.string() }),
  z.looseObject({
    kind: z.literal('api_key'),
    keyId: z.string(),
    name: z.string(),
    environment: z.string(),
    organization: named,
    project: named,
  }),
]);

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
  if (me.kind === 'api_key' && me.organization.slug === slug) return me.organization;
  if (me.kind === 'api_key' && (await actAsUser())) return getOrganization(slug);
  const known = me.kind === 'user' && me.organizations.find((one) => one.slug === slug);
  return known || (maySeeMore(me) ? bySlug('organization', slug, slug) : unknown('organization', slug));
}

/** Makes the path of what an organization has, such as `members`. */
export async function organizationPath(slug: string, what: string): Promise<string> {
  return `/api/v1/organizations/${(await getOrganization(slug)).id}/${what}`;
}

/** Makes the path of what a project has, such as `api-keys`. */
export async function projectPath(path: string, what: string): Promise<string> {
  return `/api/v1/projects/${(await getProject(path)).id}/${what}`;
}

/** Whether the caller can access more than GET /me lists. */
function maySeeMore(me: Me): boolean {
  return isOperator(me) || (me.kind === 'user' && me.hasMore);
}

export function isOperator(me: Me): boolean {
  return me.kind === 'operator' || (me.kind === 'user' && me.operator);
}

export async function getProject(path: string): Promise<Named & { organizationId: string }> {
  const [organizationSlug = '', slug = ''] = splitPath(path, 'org/project');
  const { id: organizationId } = await getOrganization(organizationSlug);
  const me = await getMe();
  const known = projectsIn(me, organizationId).find((one) => one.slug === slug);
  if (known) return { ...known, organizationId };
  if (me.kind === 'api_key' && (await actAsUser())) return getProject(path);
  if (!maySeeMore(me)) return unknown('project', path);
  return { ...(await bySlug('project', slug, path, { organization_id: organizationId })), organizationId };
}

function projectsIn(me: Me, organizationId: string): Named[] {
  if (me.kind === 'api_key') return [me.project];
  if (me.kind === 'operator') return [];
  return me.organizations.find(({ id }) => id === organizationId)?.projects ?? [];
}

export async function getFlow(path: string): Promise<Flow> {
  const [organization, project, slug] = splitPath(path, 'org/project/flow');
  const { id } = await getProject(`${organization}/${project}`);
  const flows = await listAll<Flow>(`/api/v1/projects/${id}/flows`, 'flows');
  const flow = flows.find((one) => one.slug === slug);
  return flow ?? unknown('flow', path);
}

function bySlug(kind: 'organization' | 'project', slug: string, path: string, query = {}): Promise<Named> {
  const url = `/api/v1/${kind}s/by-slug/${encodeURIComponent(slug)}`;
  return callApi<Named>('GET', url, { query }).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return unknown(kind, path);
    throw error;
  });
}

function unknown(kind: string, path: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `The ${kind} ${path} does not exist, or you cannot access it. weir whoami shows what you can access.`,
  );
}

/** Gets the user or key of this command, with the ids of accessible resources. Sends at most one request. */
export function getMe(): Promise<Me> {
  asked ??= callApi<unknown>('GET', '/api/v1/me').then((answer) => readMe(answer, serviceUrl()));
  return asked;
}

/** Makes the next command begin anew. */
export function forgetMe(): void {
  asked = undefined;
  forgetSignIn();
}

/** Uses the sign-in for what is outside the project of WEIR_API_KEY, where there is one. */
async function actAsUser(): Promise<boolean> {
  const isSignedIn = await useSignIn(serviceUrl());
  if (isSignedIn) asked = undefined;
  return isSignedIn;
}

/** Reads the answer of GET /me of the service at `url`. Throws Unreachable if the answer is not from Weir. */
export function readMe(answer: unknown, url: string): Me {
  if (shape.safeParse(answer).success) return answer as Me;
  throw notWeir(url);
}

/** The API path that lists the runs of every organization, for operators. */
export const ALL_RUNS_PATH = '/api/v1/operator/runs';

/** Lists the API paths that list the caller's runs: one project for an API key, each organization for a user. */
export async function runListPaths(): Promise<string[]> {
  const me = await getMe();
  if (me.kind === 'operator') return [ALL_RUNS_PATH];
  if (me.kind === 'api_key') return [`/api/v1/projects/${me.project.id}/runs`];
  const organizations = me.hasMore
    ? await listAll<Named>('/api/v1/organizations', 'organizations')
    : me.organizations;
  return organizations.map(({ id }) => `/api/v1/organizations/${id}/runs`);
}

/** Gets a run by its id from everything the caller can access. Throws RUN_NOT_FOUND. */
export async function getRun(executionId: string): Promise<ListedRun> {
  for (const path of isOperator(await getMe()) ? [ALL_RUNS_PATH] : await runListPaths()) {
    const { runs } = await callApi<z.output<typeof listedRuns>>('GET', path, { query: { id: executionId } });
    if (runs[0]) return runs[0];
  }
  throw new ServiceError(
    'RUN_NOT_FOUND',
    `The run ${executionId} does not exist, or you cannot access it. For a run of a deleted flow, read GET …/<org>/<project>/<flow>/jobs/${executionId}.`,
  );
}

/** Makes the path of a run: …/jobs/{executionId}. */
export function runPath({ organization, project, flow, executionId }: ListedRun): string {
  return `/api/v1/seq/${organization}/${project}/${flow}/jobs/${executionId}`;
}
