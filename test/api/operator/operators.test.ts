// What an operator of the service may do, by a key or as a user of WEIR_OPERATORS. Which caller gets which status at which
// route is in test/api/app.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { findLostAccess } from '../../../api/auth/authenticate.ts';
import type { UserPrincipal } from '../../../api/http/principal.ts';
import { findOperatorKey } from '../../../db/tenants/operator-keys.ts';
import { captureLog } from '../../capture-log.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOperatorKey, type OperatorKey } from '../../operator-key.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { waitUntil } from '../../wait-until.ts';
import { code } from '../organizations/management-harness.ts';

const USER = 'operator@example.com';
const FAILED_SIGN_INS = 30;

describe('an operator', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let operator: OperatorKey;
  before(async () => {
    provider = await startIdentityProvider();
    const env = {
      WEIR_OPERATORS: USER,
      WEIR_FAILED_SIGN_INS: String(FAILED_SIGN_INS),
      WEIR_STARTING_CREDITS: '2',
    };
    weir = await startWeir({ env: { ...provider.env, ...env }, worker: false });
    acme = await createOrganization(weir, provider);
    operator = await createOperatorKey(weir, 'ann');
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const call = (method: string, path: string, body?: unknown, key = operator.key) =>
    weir.call(method, path, { key, body });
  const slugsOf = async (path: string, key = operator.key): Promise<string[]> => {
    const { body } = await call('GET', `${path}?limit=200`, undefined, key);
    return body.organizations.map(({ slug }: { slug: string }) => slug);
  };
  const authorsIn = async (organizationId: string) =>
    (
      await weir.db
        .selectFrom('audit_entry')
        .select(['actor', 'action'])
        .where('organization_id', '=', organizationId)
        .orderBy('id')
        .execute()
    ).map(({ actor, action }) => [actor, action]);

  describe('with a key', () => {
    it('lists every organization, which the owner of one does not', async () => {
      const other = await weir.createTenant();
      for (const path of ['/operator/organizations', '/organizations'])
        for (const { organization } of [acme, other])
          assert.ok((await slugsOf(path)).includes(organization), `${path} ${organization}`);
      assert.deepEqual(await slugsOf('/organizations', acme.token.owner), [acme.organization]);
      const refused = await call('GET', '/operator/organizations', undefined, acme.token.owner);
      assert.deepEqual(code(refused), [403, 'FORBIDDEN']);
      assert.deepEqual(code(await call('GET', '/operator/organizations', undefined, acme.key)), [
        401,
        'UNAUTHENTICATED',
      ]);
    });

    it('is who GET /me says, whatever the key has the right to', async () => {
      const { body } = await call('GET', '/me');
      assert.deepEqual(body, { kind: 'operator', keyId: operator.keyId, name: 'ann' });
    });

    it('is kept as an HMAC alone, and is in no line of the log', async () => {
      const secret = operator.key.slice(-32);
      const captured = captureLog();
      await call('GET', '/me');
      await call('GET', '/me', undefined, `${operator.key.slice(0, -1)}-`);
      await call('GET', '/me', undefined, `${operator.key.slice(0, -1)}é`).catch(() => undefined);
      captured.stop();
      assert.ok(captured.lines.some((line) => line.user_id === operator.actor));
      assert.ok(!JSON.stringify(captured.lines).includes(secret.slice(0, -1)));
      const row = await weir.db.selectFrom('operator_key').selectAll().execute();
      assert.ok(!JSON.stringify(row).includes(secret));
    });

    it('records when the key was used last', async () => {
      const used = await createOperatorKey(weir, 'used');
      await call('GET', '/me', undefined, used.key);
      await waitUntil(async () => {
        const { keys } = (await call('GET', '/operator/keys?limit=200')).body;
        return keys.find(({ keyId }: { keyId: string }) => keyId === used.keyId)?.lastUsedAt;
      });
    });

    it('is refused at once when the key is revoked, which names who revoked it', async () => {
      const leaked = await createOperatorKey(weir, 'leaked');
      assert.equal((await call('GET', '/me', undefined, leaked.key)).status, 200);
      const revoked = await call('DELETE', `/operator/keys/${leaked.keyId}`);
      assert.deepEqual([revoked.status, revoked.body.revokedBy], [200, operator.actor]);
      assert.deepEqual(code(await call('GET', '/me', undefined, leaked.key)), [401, 'UNAUTHENTICATED']);
      const again = await call(
        'DELETE',
        `/operator/keys/${leaked.keyId}`,
        undefined,
        await provider.token(USER),
      );
      assert.deepEqual(again.body, revoked.body);
    });

    it('may read no more over an open stream once the key is revoked', async () => {
      const { keyId, actor } = await createOperatorKey(weir);
      const operatorKey = (await findOperatorKey(weir.db, keyId)) ?? assert.fail();
      const principal = { kind: 'user', userId: actor, isOperator: true, operatorKey } as UserPrincipal;
      const lost = () =>
        findLostAccess(
          { db: weir.db } as never,
          { ...principal, expiresAt: new Date(Date.now() + 60_000) },
          acme.organizationId,
        );
      assert.equal(await lost(), undefined);
      await call('DELETE', `/operator/keys/${keyId}`);
      assert.equal(await lost(), 'unauthenticated');
    });

    it('is the author of what it changes, and no member of what it creates', async () => {
      const slug = `org-${randomUUID().slice(0, 8)}`;
      const created = await call('POST', '/operator/organizations', { name: 'New', slug });
      assert.deepEqual([created.status, created.body.credits], [201, 0], JSON.stringify(created.body));
      const { id } = created.body;
      const project = await call('POST', '/projects', { name: 'Main', slug: 'main', organization_id: id });
      assert.deepEqual([project.status, project.body.userId], [201, null]);
      const key = await call('POST', `/projects/${project.body.id}/api-keys`, {
        environment: 'live',
        name: 'k',
      });
      assert.deepEqual([key.status, key.body.createdBy], [201, null]);
      assert.deepEqual((await call('GET', `/organizations/${id}/members`)).body.members, []);
      assert.deepEqual(await authorsIn(id), [
        [operator.actor, 'organization.create'],
        [operator.actor, 'project.create'],
        [operator.actor, 'api_key.create'],
      ]);
    });

    it('creates an organization for an owner, and makes and unmakes owners of any', async () => {
      const slug = `org-${randomUUID().slice(0, 8)}`;
      const request = { name: 'New', slug, owner: 'ada' };
      const { id } = (await call('POST', '/operator/organizations', request)).body;
      const setRole = async (userId: string, role: string) =>
        (await call('PUT', `/operator/organizations/${id}/members/${userId}`, { role })).body.role;
      assert.deepEqual([await setRole('bea', 'owner'), await setRole('bea', 'member')], ['owner', 'member']);
      assert.equal(await setRole('ada', 'admin'), 'admin');
      const { members } = (await call('GET', `/organizations/${id}/members`)).body;
      assert.deepEqual(
        members.map(({ user_id, role }: { user_id: string; role: string }) => [user_id, role]),
        [
          ['ada', 'admin'],
          ['bea', 'member'],
        ],
      );
      assert.deepEqual(
        (await authorsIn(id)).map(([, action]) => action),
        ['organization.create', 'member.add', 'member.add', 'member.update', 'member.update'],
      );
      assert.deepEqual(code(await call('POST', '/operator/organizations', request)), [409, 'CONFLICT']);
    });

    it('sets quotas and suspends, each recorded once', async () => {
      const { organizationId } = await weir.createTenant();
      const path = `/operator/organizations/${organizationId}`;
      for (const _ of [1, 2])
        assert.equal((await call('PUT', `${path}/quota`, { runs_under_way_max: 7 })).body.runsUnderWayMax, 7);
      const suspended = (await call('PUT', `${path}/suspension`, { reason: 'unpaid' })).body;
      assert.deepEqual(await call('PUT', `${path}/suspension`, {}).then(({ body }) => body), suspended);
      assert.equal(suspended.suspensionReason, 'unpaid');
      for (const _ of [1, 2])
        assert.equal((await call('DELETE', `${path}/suspension`)).body.suspendedAt, null);
      assert.deepEqual(
        (await authorsIn(organizationId)).map(([, action]) => action),
        ['organization.set_quota', 'organization.suspend', 'organization.resume'],
      );
    });

    it('finds a run of any organization by its id', async () => {
      const other = await weir.createTenant();
      const flow = await weir.createFlow(other, []);
      const { body } = await weir.call('POST', `${flow}/jobs`, { key: other.key, body: { message: 'm' } });
      const { runs } = (await call('GET', `/operator/runs?id=${body.executionId}`)).body;
      assert.deepEqual(
        runs.map(({ organization }: { organization: string }) => organization),
        [other.organization],
      );
      assert.equal((await call('GET', `${flow}/jobs/${body.executionId}`)).status, 200);
    });

    it('counts its requests against a rate limit of its own', async () => {
      const first = await createOperatorKey(weir);
      const left = async (key: string) =>
        Number((await call('GET', '/me', undefined, key)).headers.get('ratelimit-remaining'));
      const remaining = await left(first.key);
      assert.equal(await left((await createOperatorKey(weir)).key), remaining);
    });
  });

  describe('who is a user of WEIR_OPERATORS', () => {
    it('may do what an owner of any organization may, under the name of the user', async () => {
      const { organizationId } = await weir.createTenant();
      const token = await provider.token(USER);
      const path = `/organizations/${organizationId}`;
      assert.equal((await call('PUT', path, { name: 'Renamed' }, token)).status, 200);
      assert.deepEqual(await authorsIn(organizationId), [[USER, 'organization.update']]);
      assert.equal((await call('GET', '/me', undefined, token)).body.operator, true);
      assert.deepEqual(code(await call('PUT', path, { name: 'x' }, await provider.token('somebody'))), [
        404,
        'NOT_FOUND',
      ]);
    });

    it('sees in lists only what the user belongs to, unless these are lists of operators', async () => {
      const token = await provider.token(USER);
      const slug = `own-${randomUUID().slice(0, 8)}`;
      assert.equal((await call('POST', '/organizations', { name: 'Own', slug }, token)).status, 201);
      assert.deepEqual(await slugsOf('/organizations', token), [slug]);
      assert.ok((await slugsOf('/operator/organizations', token)).includes(acme.organization));
      const projects = await call(
        'GET',
        `/projects?organization_id=${acme.organizationId}`,
        undefined,
        token,
      );
      assert.equal(projects.body.projects.length, 1);
    });
  });

  // The last of all: the network of the tests is then out of tries.
  describe('whose key is guessed', () => {
    it('is answered 429 after too many wrong keys from a network, where right keys go on', async () => {
      const guess = () => call('GET', '/me', undefined, `${operator.key.slice(0, -32)}${'A'.repeat(32)}`);
      // At once, so that the network is out of tries for a minute.
      const answers = await Promise.all(Array.from({ length: 2 * FAILED_SIGN_INS }, guess));
      for (const { status } of answers) assert.ok([401, 429].includes(status), `${status}`);
      assert.equal((await guess()).status, 429);
      assert.equal((await call('GET', '/me')).status, 200);
      const other = await createOperatorKey(weir);
      assert.equal((await call('GET', '/me', undefined, other.key)).status, 200);
    });
  });
});
