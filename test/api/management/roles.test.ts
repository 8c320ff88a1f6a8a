// Every route of the management and execution API for every kind of caller, of the own and of a foreign organization.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { apiRoutes } from '../../../api/app.ts';
import { recordBlockRun } from '../../../db/runs/block-runs.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { KEY_SCOPES } from '../../../db/tables/access.ts';
import { revokeApiKey } from '../../../db/tenants/api-keys.ts';
import { code } from '../../blocks.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { type Answer, startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { MANAGEMENT, O, P, parameters, sendTo, slugOf } from './management-routes.ts';

/** Without a resource in the path, a foreign caller simply sees their own. */
const OF_CALLER = [`post ${O}`, `get ${O}`, `get ${P}`];

describe('roles', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let other: Organization;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ env: provider.env, worker: false });
    other = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const routes = () => apiRoutes(weir as never).map(({ method, path }) => `${method} ${path}`);
  const send = (route: string, values: Record<string, string>, key: string | undefined, body?: unknown) =>
    sendTo(weir, route, values, key, body);

  const authorsOf = async ({ headers }: Answer) => {
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select('actor')
      .where('request_id', '=', headers.get('x-request-id'))
      .execute();
    return entries.map(({ actor }) => actor);
  };

  it('are tested for every route of the management API', () => {
    // MCP, assistants, /me, models, accepted invitations and single test runs have tests of their own.
    const managed = routes().filter(
      (route) =>
        !/\/(seq|webhooks|test-runs\/:test_run_id|mcp|assistants|me|accept|models)(\/|$)/.test(route),
    );
    assert.deepEqual(managed.sort(), Object.keys(MANAGEMENT).sort());
  });

  for (const [route, { body, headers: _, query: __, keys = [], ...expected }] of Object.entries(MANAGEMENT))
    describe(route, () => {
      for (const [role, status] of Object.entries(expected))
        it(`answers ${status} to the ${role}, and leaves one entry in the audit log if it writes`, async () => {
          const about = await createOrganization(weir, provider);
          const answer = await send(route, slugOf(route, about), about.token[role as 'owner'], body?.(about));
          assert.equal(answer.status, status, JSON.stringify(answer.body));
          if (status === 403) assert.equal(answer.body.detail.code, 'FORBIDDEN');
          const wrote = answer.status < 300 && !route.startsWith('get ');
          assert.deepEqual(await authorsOf(answer), wrote ? [about.users[role as 'owner']] : []);
        });

      for (const scope of KEY_SCOPES) {
        const status = keys.length === 0 ? 401 : keys.includes(scope) ? expected.member : 403;
        it(`answers ${status} to an API key of the project with the scope ${scope}, the author of what it writes`, async () => {
          const about = await createOrganization(weir, provider);
          const { key, keyId } = await createScopedKey(weir, about.projectId, scope);
          const answer = await send(route, slugOf(route, about), key, body?.(about));
          assert.equal(answer.status, status, JSON.stringify(answer.body));
          const wrote = answer.status < 300 && !route.startsWith('get ');
          const authors = await authorsOf(answer);
          assert.deepEqual(authors, wrote ? [`api_key/${keyId}`] : []);
          if (status !== 403) return;
          const { code, message } = answer.body.detail;
          assert.equal(code, 'FORBIDDEN');
          assert.match(message, new RegExp(`scope ${keys.join(' or ')}; this key has ${scope}\\.`));
        });
      }

      it('answers 401 without a token, and with one or a key that is not valid', async () => {
        const about = await createOrganization(weir, provider);
        for (const key of [undefined, 'x.y.z', `weir_live_AAAAAAAA_${'A'.repeat(32)}`]) {
          const answer = await send(route, slugOf(route, about), key, body?.(about));
          assert.deepEqual([answer.status, answer.body.detail.code], [401, 'UNAUTHENTICATED']);
        }
      });

      if (OF_CALLER.includes(route)) return;
      it('answers the owner of another organization the same 404, byte for byte, as for an id that does not exist', async () => {
        const about = await createOrganization(weir, provider);
        const key = other.token.owner;
        const nowhere = { ...about, organizationId: randomUUID() };
        // A slug of the foreign organization that the caller has no project under.
        const values = slugOf(route, about);
        if (route.includes(`${P}/by-slug`)) values.slug = 'only-there';
        await weir.db
          .updateTable('project')
          .set({ slug: 'only-there' })
          .where('id', '=', about.projectId)
          .execute();
        const foreign = await send(route, values, key, body?.(about));
        const unknown = await send(route, slugOf(route, undefined), key, body?.(nowhere));
        assert.equal(foreign.status, 404, JSON.stringify(foreign.body));
        assert.equal(JSON.stringify(foreign.body), JSON.stringify(unknown.body));
        if (keys.length === 0) return;
        const foreignKey = await createScopedKey(weir, other.projectId, ...keys);
        const toKey = await send(route, values, foreignKey.key, body?.(about));
        assert.deepEqual([toKey.status, toKey.body], [404, unknown.body]);
        await revokeApiKey(weir.db, other.projectId, foreignKey.keyId);
      });
    });

  it('answers 404 for a member, key, flow or test case of another organization under the path of one’s own', async () => {
    const own = await createOrganization(weir, provider);
    const about = await createOrganization(weir, provider);
    const key = own.token.owner;
    const mixed = parameters(own, {
      member_user_id: about.users.member,
      key_id: about.keyId,
      flow_id: about.flowId,
      invitation_id: about.invitationId,
    });
    const otherCase = parameters(own, { test_case_id: about.testCaseId });
    for (const [route, { body }] of Object.entries(MANAGEMENT))
      if (/:(member_user_id|key_id|flow_id|invitation_id)/.test(route)) {
        const values = route.includes(':test_case_id') ? otherCase : mixed;
        assert.equal((await send(route, values, key, body?.(own))).status, 404, route);
      }
  });

  it('answers 404, never 500, for malformed ids', async () => {
    for (const bad of ['x', '%00', '..%2f..', 'a'.repeat(300), '%F0%9F%92%A9', "'--"]) {
      const values = {
        org_id: bad,
        project_id: bad,
        slug: bad,
        member_user_id: bad,
        key_id: bad,
        flow_id: bad,
        test_case_id: bad,
        invitation_id: bad,
        provider: bad,
      };
      for (const [route, { body }] of Object.entries(MANAGEMENT)) {
        if (OF_CALLER.includes(route) || route === `post ${P}`) continue;
        const answer = await send(route, values, other.token.owner, body?.(other));
        assert.equal(answer.status, 404, `${route} ${bad}`);
        for (const name of [
          'member_user_id',
          'key_id',
          'provider',
          'flow_id',
          'test_case_id',
          'invitation_id',
        ])
          if (route.includes(name)) {
            const { status } = await send(
              route,
              parameters(other, { [name]: bad }),
              other.token.owner,
              body?.(other),
            );
            assert.equal(status, 404, `${route} ${name} ${bad}`);
          }
      }
    }
  });

  describe('of the execution API', () => {
    it('let every member in; all others get the 404 of an unknown flow', async () => {
      const about = await createOrganization(weir, provider);
      const [org = '', project = '', flow = ''] = (
        await weir.createFlow(about, [code('a', 'return 1;')])
      ).split('/');
      const started = await weir.call('POST', `${org}/${project}/${flow}/jobs`, {
        key: about.key,
        body: { message: '' },
      });
      const { executionId } = started.body;
      await finishRun(weir.db, executionId, { status: 'completed', result: { ref: '$message' } });
      await recordBlockRun(
        weir.db,
        { organizationId: about.organizationId },
        {
          callId: executionId,
          ...{ blockKey: 'a', stepId: 'a', name: 'a', processorType: 'code', attempts: 1 },
          ...{ input: { ref: '$message' }, output: '1', startedAt: new Date() },
        },
      );
      const values = { org, project, flow, version: '1', executionId, key: 'a' };
      const body = { message: '' };
      for (const route of routes().filter((one) => one.includes('/seq/'))) {
        // Nothing runs here, so that nothing would answer.
        if (route.endsWith('/execute')) continue;
        for (const role of ['member', 'admin', 'owner'] as const) {
          const { status } = await sendText(route, values, about.token[role], body);
          // The run has not failed, so there is nothing to retry.
          const expected = route.endsWith('/retry') ? status === 409 : status < 300 || status === 422;
          assert.ok(expected, `${route} ${role} ${status}`);
        }
        const answers = [
          await sendText(route, values, other.token.owner, body),
          await sendText(route, { ...values, flow: 'unknown' }, other.token.owner, body),
          await sendText(route, values, other.key, body),
        ];
        for (const answer of answers) {
          assert.equal(answer.status, 404, route);
          assert.equal(answer.text, answers[0]?.text, route);
        }
        assert.equal((await sendText(route, values, undefined, body)).status, 401, route);
      }
    });
  });

  async function sendText(
    route: string,
    values: Record<string, string>,
    key: string | undefined,
    body: unknown,
  ) {
    const [method = '', path = ''] = route.split(' ');
    const url = weir.url + path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? '');
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      ...(method === 'post' && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
});
