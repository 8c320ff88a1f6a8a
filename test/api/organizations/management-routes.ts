// The routes of the management API, how they are called, and what each role gets.
import { randomUUID } from 'node:crypto';
import type { KeyScope } from '../../../db/tables/access.ts';
import type { Answer, Weir } from '../../harness.ts';
import type { Organization } from '../../organization.ts';

type Expected = { member: number; admin: number; owner: number };
export type Row = Expected & {
  /** The status for users and API keys of other organizations; 404 unless it is given. */
  strangers?: number;
  /** The status for operators of the service; that of an owner unless it is given. */
  operator?: number;
  /** Whether it is about an organization, so that a key of any of its projects is let in. */
  ofOrganization?: true;
  /** The scopes of API keys of which one is enough; without them no key is let in. */
  keys?: KeyScope[];
  body?: (about: Organization) => unknown;
  headers?: { [name: string]: string };
  query?: string;
};
export const all = (status: number) => ({ member: status, admin: status, owner: status });
const admins = (status: number) => ({ member: 403, admin: status, owner: status });

export const O = '/api/v1/organizations';
export const P = '/api/v1/projects';
export const F = `${P}/:project_id/flows`;
export const readers = { keys: ['read', 'deploy'] as KeyScope[] };
const deployers = { keys: ['deploy'] as KeyScope[] };
const STEP = { name: 'Pass on', processor_type: 'passthrough' };
const CASE = { name: 'case', message: 'x', expectation: { type: 'contains', text: 'x' } };
/** The status that each role gets. */
export const MANAGEMENT: { [route: string]: Row } = {
  // Operators belong nowhere: they create organizations for others.
  [`post ${O}`]: {
    ...all(201),
    strangers: 201,
    operator: 401,
    body: () => ({ name: 'New', slug: `new-${randomUUID()}` }),
  },
  [`get ${O}`]: { ...all(200), strangers: 200 },
  [`get ${O}/by-slug/:slug`]: all(200),
  [`get ${O}/:org_id`]: all(200),
  [`put ${O}/:org_id`]: { ...admins(200), body: () => ({ name: 'Renamed' }) },
  [`delete ${O}/:org_id`]: { member: 403, admin: 403, owner: 200 },
  [`post ${O}/:org_id/members`]: { ...admins(201), body: () => ({ user_id: 'newcomer', role: 'member' }) },
  [`get ${O}/:org_id/members`]: all(200),
  [`put ${O}/:org_id/members/:member_user_id`]: { ...admins(200), body: () => ({ role: 'admin' }) },
  // The member leaves.
  [`delete ${O}/:org_id/members/:member_user_id`]: all(204),
  [`get ${O}/:org_id/runs`]: all(200),
  [`get ${O}/:org_id/usage`]: all(200),
  [`get ${O}/:org_id/rate-limits`]: all(200),
  [`get ${O}/:org_id/credits`]: all(200),
  [`put ${O}/:org_id/credits`]: { ...admins(200), body: () => ({ low_balance_mark: 10 }) },
  [`get ${O}/:org_id/credits/ledger`]: all(200),
  // For operators of the service alone, whatever their role.
  [`post ${O}/:org_id/credits/grants`]: {
    ...all(403),
    operator: 201,
    body: () => ({ credits: 1 }),
    headers: { 'idempotency-key': 'grant' },
  },
  [`post ${O}/:org_id/invitations`]: {
    ...admins(201),
    body: () => ({ email: 'new@example.com', role: 'member' }),
  },
  [`get ${O}/:org_id/invitations`]: admins(200),
  [`delete ${O}/:org_id/invitations/:invitation_id`]: admins(204),
  [`get ${O}/:org_id/audit-log`]: admins(200),
  [`get ${O}/:org_id/model-keys`]: admins(200),
  [`get ${O}/:org_id/model-keys/:provider`]: admins(200),
  [`put ${O}/:org_id/model-keys/:provider`]: { ...admins(200), body: () => ({ key: 'sk-key' }) },
  [`delete ${O}/:org_id/model-keys/:provider`]: admins(204),
  [`post ${P}`]: {
    ...admins(201),
    body: ({ organizationId }) => ({ name: 'New', slug: 'new', organization_id: organizationId }),
  },
  [`get ${P}`]: { ...all(200), strangers: 200 },
  [`get ${P}/by-slug/:slug`]: all(200),
  [`get ${P}/:project_id`]: all(200),
  [`get ${P}/:project_id/usage`]: { ...all(200), ...readers },
  [`put ${P}/:project_id`]: { ...admins(200), body: () => ({ description: 'Changed' }) },
  [`delete ${P}/:project_id`]: admins(200),
  [`get ${P}/:project_id/runs`]: { ...all(200), keys: ['run', 'read'] },
  [`get ${P}/:project_id/runs/errors`]: { ...all(200), keys: ['run', 'read'] },
  [`get ${P}/:project_id/runs/hours`]: { ...all(200), keys: ['run', 'read'] },
  [`post ${P}/:project_id/runs/cancel`]: { ...all(200), keys: ['run'], body: () => ({}) },
  [`post ${P}/:project_id/runs/retry`]: { ...all(200), keys: ['run'], body: () => ({}) },
  [`get ${P}/:project_id/bulk-retries`]: { ...all(200), keys: ['run', 'read'] },
  [`get ${P}/:project_id/bulk-retries/:bulk_id`]: { ...all(200), keys: ['run', 'read'] },
  [`post ${P}/:project_id/bulk-retries/:bulk_id/cancel`]: { ...all(200), keys: ['run'] },
  [`post ${F}`]: { ...deployers, ...all(201), body: () => ({ name: 'New', slug: 'new' }) },
  [`get ${F}`]: { ...all(200), ...readers },
  [`get ${F}/:flow_id`]: { ...all(200), ...readers },
  [`put ${F}/:flow_id`]: { ...deployers, ...all(200), body: () => ({ name: 'Renamed' }) },
  [`delete ${F}/:flow_id`]: admins(204),
  [`get ${F}/:flow_id/draft`]: { ...all(200), ...readers },
  [`put ${F}/:flow_id/draft`]: {
    ...deployers,
    ...all(200),
    body: () => ({ steps: [STEP] }),
    headers: { 'if-match': '*' },
  },
  [`post ${F}/:flow_id/draft/runs`]: { ...deployers, ...all(202), body: () => ({ message: 'x' }) },
  [`post ${F}/:flow_id/versions`]: { ...deployers, ...all(201), body: () => ({ note: 'Second' }) },
  [`get ${F}/:flow_id/versions`]: { ...all(200), ...readers },
  [`get ${F}/:flow_id/versions/:version`]: { ...all(200), ...readers },
  [`put ${F}/:flow_id/production`]: { ...deployers, ...all(200), body: () => ({ version: 1 }) },
  [`get ${F}/:flow_id/difference`]: { ...readers, ...all(200), query: '?from=1&to=draft' },
  [`post ${F}/:flow_id/test-cases`]: { ...deployers, ...all(201), body: () => ({ ...CASE, name: 'new' }) },
  [`get ${F}/:flow_id/test-cases`]: { ...all(200), ...readers },
  [`get ${F}/:flow_id/test-cases/:test_case_id`]: { ...all(200), ...readers },
  [`put ${F}/:flow_id/test-cases/:test_case_id`]: { ...deployers, ...all(200), body: () => CASE },
  [`delete ${F}/:flow_id/test-cases/:test_case_id`]: { ...all(204), ...deployers },
  [`post ${F}/:flow_id/test-runs`]: { ...deployers, ...all(202), body: () => ({}) },
  [`get ${F}/:flow_id/test-runs`]: { ...all(200), ...readers },
  [`post ${P}/:project_id/api-keys`]: { ...admins(201), body: () => ({ environment: 'test', name: 'k' }) },
  [`get ${P}/:project_id/api-keys`]: admins(200),
  [`delete ${P}/:project_id/api-keys/:key_id`]: admins(200),
};

/** The values of every parameter: of `about`, or such as nobody has. */
export const parameters = (about: Organization | undefined, more: Record<string, string> = {}) => ({
  org_id: about?.organizationId ?? randomUUID(),
  project_id: about?.projectId ?? randomUUID(),
  member_user_id: encodeURIComponent(about?.users.member ?? 'nobody'),
  key_id: about?.keyId ?? 'AAAAAAAA',
  flow_id: about?.flowId ?? randomUUID(),
  test_case_id: about?.testCaseId ?? randomUUID(),
  invitation_id: about?.invitationId ?? randomUUID(),
  slug: about?.organization ?? 'unknown',
  provider: 'openai',
  version: '1',
  ...more,
});

/** Calls a route with the values of its parameters. */
export function sendTo(
  weir: Weir,
  route: string,
  values: Record<string, string>,
  key: string | undefined,
  body?: unknown,
): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const url = path.replace('/api/v1', '').replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? '');
  const { headers = {}, query = '' } = MANAGEMENT[route] ?? {};
  return weir.call(method.toUpperCase(), url + query, { key, body, headers });
}

/** `parameters` with the slug of what the route is about. */
export const slugOf = (route: string, about: Organization | undefined) =>
  parameters(about, route.includes(P) ? { slug: about ? 'project' : 'unknown' } : {});
