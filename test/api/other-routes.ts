// The routes beside those of the management API, and who gets what.
import { randomUUID } from 'node:crypto';
import { KEY_SCOPES } from '../../db/tables/access.ts';
import { all, F, O, type Row, readers } from './organizations/management-routes.ts';

const OP = '/api/v1/operator';
const S = '/api/v1/seq/:org/:project/:flow';
const W = `${O}/:org_id/webhooks`;
const runners: Pick<Row, 'keys'> = { keys: ['run'] };
const runReaders: Pick<Row, 'keys'> = { keys: ['run', 'read'] };
const webhooks: Omit<Row, 'owner' | 'admin' | 'member'> = {
  keys: ['webhooks'],
  strangers: 403,
  ofOrganization: true,
};
const nothing = { body: () => ({}) };
const operators = (operator: number) => ({ ...all(403), strangers: 403, operator });

const onFlow: { [route: string]: Row } = Object.fromEntries(
  [S, `${S}/v:version`].flatMap((path): [string, Row][] => [
    // A body that lacks everything is refused only after the caller was let in, and starts no run.
    [`post ${path}/execute`, { ...all(422), ...runners, ...nothing }],
    [`post ${path}/jobs`, { ...all(422), ...runners, ...nothing }],
    [`post ${path}/step`, { ...all(422), ...runners, ...nothing }],
    [`get ${path}/jobs/:executionId`, { ...all(200), ...runReaders }],
  ]),
);

const R = `${S}/jobs/:executionId`;
const onRun: { [route: string]: Row } = {
  [`get ${R}/events`]: { ...all(200), ...runReaders },
  [`get ${R}/blocks`]: { ...all(200), ...runReaders },
  [`get ${R}/blocks/:key`]: { ...all(200), ...runReaders },
  [`get ${R}/blocks/:key/input`]: { ...all(200), ...runReaders },
  [`get ${R}/blocks/:key/output`]: { ...all(200), ...runReaders },
  [`get ${R}/blocks/:key/output/url`]: { ...all(200), ...runReaders },
  [`get ${R}/blocks/:key/sent`]: { ...all(200), ...runReaders },
  [`get ${R}/request`]: { ...all(200), ...runReaders },
  [`get ${R}/flow`]: { ...all(200), keys: ['read', 'deploy'] },
  [`get ${R}/fork`]: { ...all(422), ...runReaders },
  [`post ${R}/rerun`]: { ...all(202), ...runners },
  // The run has not failed, so there is nothing to retry.
  [`post ${R}/retry`]: { ...all(409), ...runners },
  [`post ${R}/cancel`]: { ...all(200), ...runners },
};

export const OTHERS: { [route: string]: Row } = {
  ...onFlow,
  ...onRun,
  [`get ${S}/runs`]: { ...all(200), ...runReaders },
  [`get ${W}/secret`]: { ...all(200), ...webhooks },
  [`post ${W}/secret/rotate`]: { member: 403, admin: 200, owner: 200, ...webhooks },
  [`get ${W}/deliveries`]: { ...all(200), ...webhooks, keys: ['read', 'webhooks'] },
  [`get ${W}/deliveries/:deliveryId`]: { ...all(200), ...webhooks, keys: ['read', 'webhooks'] },
  [`post ${W}/deliveries/:deliveryId/redeliver`]: { ...all(202), ...webhooks },
  [`post ${W}/recover`]: { ...all(422), ...webhooks, ...nothing },
  [`post ${W}/test`]: { ...all(422), ...webhooks, ...nothing },
  [`post ${F}/:flow_id/draft/execute`]: { ...all(422), keys: ['deploy'], ...nothing },
  [`post ${F}/:flow_id/draft/step`]: { ...all(422), keys: ['deploy'], ...nothing },
  [`get ${F}/:flow_id/test-runs/:test_run_id`]: { ...all(200), ...readers },
  'post /api/v1/test-runs/:test_run_id/cancel': { ...all(202), keys: ['run', 'deploy'] },
  'get /api/v1/me': { ...all(200), keys: [...KEY_SCOPES], strangers: 200, ofOrganization: true },
  'get /api/v1/models': { ...all(200), ...readers, ofOrganization: true, query: '?organization_id=:org_id' },
  // The addresses of these users are not verified.
  'post /api/v1/invitations/:invitation_id/accept': { ...all(403), strangers: 403, operator: 401 },
  'post /api/v1/codec/decode': { ...all(200), strangers: 200, body: () => ({ payloads: [] }) },
  'post /api/v1/codec/session': { ...all(204), strangers: 204, operator: 401 },
  'get /api/v1/assistants': { ...all(200), strangers: 200, operator: 401 },
  // Nobody here has an assistant.
  'delete /api/v1/assistants/:assistant_id': { ...all(404), operator: 401 },
  [`get ${OP}/keys`]: operators(200),
  // The key is one of a project.
  [`delete ${OP}/keys/:key_id`]: operators(404),
  [`get ${OP}/organizations`]: operators(200),
  [`post ${OP}/organizations`]: {
    ...operators(201),
    body: () => ({ name: 'New', slug: `new-${randomUUID()}` }),
  },
  [`put ${OP}/organizations/:org_id/quota`]: {
    ...operators(200),
    body: () => ({ runs_under_way_max: 5 }),
  },
  [`put ${OP}/organizations/:org_id/suspension`]: { ...operators(200), ...nothing },
  [`delete ${OP}/organizations/:org_id/suspension`]: operators(200),
  [`put ${OP}/organizations/:org_id/members/:member_user_id`]: {
    ...operators(200),
    body: () => ({ role: 'owner' }),
  },
  [`get ${OP}/users/:user_id/assistants`]: operators(200),
  [`delete ${OP}/users/:user_id/assistants/:assistant_id`]: operators(404),
  [`get ${OP}/runs`]: operators(200),
  [`get ${OP}/stuck-runs`]: operators(200),
  [`post ${OP}/test-runs/cancel`]: {
    ...operators(200),
    body: ({ organization }) => ({ organization }),
  },
};
