// Every route for every kind of caller, of the own organization and of others.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { apiRoutes } from '../../api/app.ts';
import { KEY_SCOPES } from '../../db/tables/access.ts';
import { revokeApiKey } from '../../db/tenants/api-keys.ts';
import { revokeOperatorKey } from '../../db/tenants/operator-keys.ts';
import { insertProject } from '../../db/tenants/projects.ts';
import { type IdentityProvider, MCP_AUDIENCE, startIdentityProvider } from '../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../harness.ts';
import { createOperatorKey, type OperatorKey } from '../operator-key.ts';
import { createOrganization, type Organization } from '../organization.ts';
import { createScopedKey } from '../scoped-key.ts';
import { MANAGEMENT, type Row } from './organizations/management-routes.ts';
import { OTHERS } from './other-routes.ts';
import { type Prepared, prepare, unknownTo } from './prepared.ts';

const ROUTES = { ...MANAGEMENT, ...OTHERS };
const ROLES = ['owner', 'admin', 'member'] as const;
/** The endpoint of assistants has tests of its own (mcp/endpoint.test.ts), as have listeners, which are off here. */
const OTHERWISE_TESTED = /^post \/api\/v1\/mcp\/?$/;

describe('every route', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let other: Organization;
  let foreignKey: string;
  let operator: OperatorKey;
  let revokedOperator: OperatorKey;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ env: { ...provider.env, WEIR_FAILED_SIGN_INS: '0' }, worker: false });
    other = await createOrganization(weir, provider);
    foreignKey = (await createScopedKey(weir, other.projectId, ...KEY_SCOPES)).key;
    operator = await createOperatorKey(weir);
    revokedOperator = await createOperatorKey(weir);
    await revokeOperatorKey(weir.db, revokedOperator.keyId, operator.actor);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  it('has a row that says who may call it', () => {
    const routes = apiRoutes(weir as never).map(({ method, path }) => `${method} ${path}`);
    const tested = routes.filter((route) => !OTHERWISE_TESTED.test(route));
    const withoutRow = tested.filter((route) => !(route in ROUTES));
    const withoutRoute = Object.keys(ROUTES).filter((route) => !tested.includes(route));
    assert.deepEqual({ withoutRow, withoutRoute }, { withoutRow: [], withoutRoute: [] });
  });

  for (const [route, row] of Object.entries(ROUTES))
    describe(route, () => {
      const { keys = [], strangers = 404, ofOrganization } = row;
      let about: Prepared;
      before(async () => {
        about = await prepare(weir, provider, route);
      });
      /** Returns what a request is about that is answered with `status`: a write gets an organization of its own. */
      const aboutFor = async (status: number) =>
        status < 300 && !route.startsWith('get ') ? prepare(weir, provider, route) : about;
      /** Asserts that the audit log names `author`, if the request wrote. */
      const expectAuthor = async (
        { status, requestId }: { status: number; requestId: string },
        author: string,
      ) => {
        if (!(route in MANAGEMENT)) return;
        const wrote = status < 300 && !route.startsWith('get ');
        assert.deepEqual(await authorsOf(requestId), wrote ? [author] : []);
      };

      it('answers 401 to credentials that are not valid there', async () => {
        const revoked = await createScopedKey(weir, about.projectId, ...KEY_SCOPES);
        await revokeApiKey(weir.db, about.projectId, revoked.keyId);
        const credentials = {
          none: undefined,
          'not a token': 'x.y.z',
          'unknown key': `weir_live_AAAAAAAA_${'A'.repeat(32)}`,
          'revoked key': revoked.key,
          'unknown key of an operator': `weir_operator_AAAAAAAA_${'A'.repeat(32)}`,
          'revoked key of an operator': revokedOperator.key,
          'key of an operator with another secret': `${operator.key.slice(0, -32)}${'A'.repeat(32)}`,
          'key of a project called that of an operator': foreignKey.replace('live', 'operator'),
          'token for MCP': await provider.token(about.users.owner, { aud: MCP_AUDIENCE }),
          ...(keys.length === 0 && { 'valid key': foreignKey }),
        };
        for (const [name, credential] of Object.entries(credentials)) {
          const { status, text } = await send(route, row, about, credential);
          assert.equal(status, 401, name);
          assert.match(text, /UNAUTHENTICATED/, name);
        }
      });

      it(`answers ${strangers} to other organizations, the same as if this one did not exist`, async () => {
        const unknown = await send(route, row, unknownTo(about), other.token.owner);
        const callers = { owner: other.token.owner, ...(keys.length > 0 && { key: foreignKey }) };
        for (const [name, credential] of Object.entries(callers)) {
          const answer = await send(route, row, about, credential);
          assert.equal(answer.status, strangers, `${name}: ${answer.text}`);
          if (strangers >= 400) assert.equal(answer.text, unknown.text, name);
          assert.ok(!answer.text.includes(about.organizationId), name);
        }
        if (keys.length === 0) return;
        const to = ofOrganization ? await aboutFor(row.owner) : about;
        const second = { organizationId: to.organizationId, slug: 'second', name: 'Second' };
        const { id } = await insertProject(weir.db, second);
        const { key } = await createScopedKey(weir, id, ...KEY_SCOPES);
        const answer = await send(route, row, to, key);
        assert.equal(answer.status, ofOrganization ? row.owner : 404, answer.text);
        if (!ofOrganization) assert.equal(answer.text, unknown.text);
      });

      it(`answers owner, admin and member ${ROLES.map((role) => row[role]).join(', ')}`, async () => {
        for (const role of ROLES) {
          const to = await aboutFor(row[role]);
          const answer = await send(route, row, to, to.token[role]);
          assert.equal(answer.status, row[role], `${role}: ${answer.text}`);
          await expectAuthor(answer, to.users[role]);
        }
      });

      const { operator: forOperator = row.owner } = row;
      it(`answers an operator's key ${forOperator}`, async () => {
        const to = await aboutFor(forOperator);
        const answer = await send(route, row, to, operator.key);
        assert.equal(answer.status, forOperator, answer.text);
        await expectAuthor(answer, operator.actor);
      });

      if (keys.length === 0) return;
      it(`lets in API keys with the scope ${keys.join(' or ')}, and answers all others 403`, async () => {
        for (const scope of KEY_SCOPES) {
          const expected = keys.includes(scope) ? row.owner : 403;
          const to = await aboutFor(expected);
          const { key, keyId } = await createScopedKey(weir, to.projectId, scope);
          const answer = await send(route, row, to, key);
          assert.equal(answer.status, expected, `${scope}: ${answer.text}`);
          if (expected === 403)
            assert.ok(
              answer.text.includes(`scope ${keys.join(' or ')}; this key has ${scope}.`),
              answer.text,
            );
          await expectAuthor(answer, `api_key/${keyId}`);
        }
      });
    });

  async function send(route: string, row: Row, to: Prepared, credential: string | undefined) {
    const [method = '', path = ''] = route.split(' ');
    const filled = `${path}${row.query ?? ''}`.replaceAll(
      /:(\w+)/g,
      (_, name: string) => to.values[name] ?? '',
    );
    const body = row.body?.(to);
    const response = await fetch(weir.url + filled, {
      method: method.toUpperCase(),
      headers: {
        ...(credential && { authorization: `Bearer ${credential}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...row.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const requestId = response.headers.get('x-request-id') ?? randomUUID();
    return { status: response.status, text: await response.text(), requestId };
  }

  async function authorsOf(requestId: string): Promise<string[]> {
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select('actor')
      .where('request_id', '=', requestId)
      .execute();
    return entries.map(({ actor }) => actor);
  }
});
