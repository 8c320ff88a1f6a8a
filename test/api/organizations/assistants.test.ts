// A user's connected assistants: who sees them, and what disconnecting one ends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type McpWeir, startMcpWeir } from '../mcp/mcp-harness.ts';

const CLIENT = 'https://assistant.example.com/client.json';
const now = () => Math.floor(Date.now() / 1_000);

describe('connected assistants', () => {
  let app: McpWeir;
  before(async () => {
    app = await startMcpWeir({ worker: false });
  });
  after(() => app.stop());

  const user = async () => {
    const userId = `user-${randomUUID()}`;
    await app.join(userId);
    const audience = app.weir.config.oidc?.audience;
    const key = await app.provider.token(userId, { aud: audience });
    return { userId, call: (method: string, path: string) => app.weir.call(method, path, { key }) };
  };
  /** Calls MCP with a token; answers the status and the challenge. */
  const use = async (token: string) => {
    const response = await fetch(app.mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    await response.text();
    return [response.status, response.headers.get('www-authenticate') ?? ''] as const;
  };
  const statusOf = async (userId: string, claims: object) =>
    (await use(await app.token(userId, { client_id: CLIENT, ...claims })))[0];

  it('are the clients that have used MCP for the user, with what their tokens say', async () => {
    const { userId, call } = await user();
    assert.deepEqual((await call('GET', '/assistants')).body.assistants, []);
    const consented_at = now() - 1_000;
    const claims = { client_name: 'An assistant', scope: 'flows:read', consented_at };
    assert.equal(await statusOf(userId, claims), 200);
    assert.equal(await statusOf(userId, { client_id: undefined, azp: 'by-azp' }), 200);
    assert.equal(await statusOf(userId, { client_id: undefined }), 200);
    const { status, body } = await call('GET', '/assistants');
    assert.equal(status, 200);
    assert.deepEqual(
      body.assistants.map(({ clientId }: { clientId: string }) => clientId),
      [null, 'by-azp', CLIENT],
    );
    const { id, firstUsedAt, lastUsedAt, ...known } = body.assistants[2];
    assert.deepEqual(known, {
      clientId: CLIENT,
      name: 'An assistant',
      scopes: ['flows:read'],
      consentedAt: new Date(consented_at * 1_000).toISOString(),
    });
    assert.equal(firstUsedAt, lastUsedAt);
    const pages = [];
    for (let cursor: string | null = null; ; ) {
      const page = await call(
        'GET',
        `/assistants?limit=1${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      assert.equal(page.body.hasMore, page.body.nextCursor !== null);
      assert.notEqual(page.body.nextCursor, '');
      pages.push(...page.body.assistants);
      cursor = page.body.nextCursor;
      if (cursor === null) break;
    }
    assert.deepEqual(pages, body.assistants);
    assert.equal((await call('GET', '/assistants?cursor=x')).status, 422);
    const other = await user();
    assert.deepEqual((await other.call('GET', `/assistants?cursor=${id}`)).body.assistants, []);
  });

  it('are refused at once when they are disconnected, whatever token they hold, until the user consents again', async () => {
    const { userId, call } = await user();
    const before = now() - 100;
    assert.equal(await statusOf(userId, { consented_at: before }), 200);
    const { body } = await call('GET', '/assistants');
    const [{ id }] = body.assistants;
    assert.equal((await call('DELETE', `/assistants/${id}`)).status, 204);
    const [status, challenge] = await use(
      await app.token(userId, { client_id: CLIENT, consented_at: before, iat: now() + 60 }),
    );
    assert.equal(status, 401);
    assert.match(
      challenge,
      /error="invalid_token", error_description="The user has disconnected this client/,
    );
    assert.equal(await statusOf(userId, { iat: before }), 401, 'a token that says when it was issued only');
    assert.equal(await statusOf(userId, { iat: undefined }), 401, 'a token without any time');
    assert.equal(await statusOf(userId, { client_id: 'another' }), 200);
    assert.equal((await call('DELETE', `/assistants/${id}`)).status, 404);
    assert.equal(await statusOf(userId, { consented_at: now() + 60 }), 200);
    assert.equal(await statusOf(userId, { consented_at: before }), 401);
    const again = await call('GET', '/assistants');
    assert.ok(again.body.assistants.some((assistant: { id: string }) => assistant.id === id));
  });

  it('are those of the caller alone', async () => {
    const [one, other] = [await user(), await user()];
    assert.equal(await statusOf(one.userId, {}), 200);
    const [{ id }] = (await one.call('GET', '/assistants')).body.assistants;
    assert.deepEqual((await other.call('GET', '/assistants')).body.assistants, []);
    const foreign = await other.call('DELETE', `/assistants/${id}`);
    const unknown = await other.call('DELETE', `/assistants/${randomUUID()}`);
    const malformed = await other.call('DELETE', '/assistants/x');
    assert.deepEqual([foreign.status, foreign.body], [404, unknown.body]);
    assert.deepEqual(malformed.body, unknown.body);
    assert.equal(await statusOf(one.userId, {}), 200);
  });

  it('leave an entry in the audit log of each organization of the user when they are disconnected', async () => {
    const { userId, call } = await user();
    const second = await app.weir.createTenant();
    await app.join(userId, 'owner', second);
    assert.equal(await statusOf(userId, {}), 200);
    const [{ id }] = (await call('GET', '/assistants')).body.assistants;
    await call('DELETE', `/assistants/${id}`);
    const entries = await app.weir.db
      .selectFrom('audit_entry')
      .select(['organization_id', 'actor', 'action', 'details'])
      .where('resource_id', '=', id)
      .execute();
    assert.deepEqual(
      entries.map(({ organization_id }) => organization_id).sort(),
      [app.tenant.organizationId, second.organizationId].sort(),
    );
    const { organization_id, ...entry } = entries[0] ?? assert.fail();
    assert.deepEqual(entry, {
      actor: userId,
      action: 'assistant.disconnect',
      details: { user_id: userId, client_id: CLIENT, name: null },
    });
  });

  it('are shown to users only', async () => {
    for (const key of [undefined, app.tenant.key, await app.token('someone')])
      for (const [method, path] of [
        ['GET', '/assistants'],
        ['DELETE', `/assistants/${randomUUID()}`],
      ] as const) {
        const { status, body } = await app.weir.call(method, path, { key });
        assert.deepEqual([status, body.detail.code], [401, 'UNAUTHENTICATED']);
      }
  });

  it('are recorded once when they send many requests at once', async () => {
    const { userId, call } = await user();
    const statuses = await Promise.all(Array.from({ length: 8 }, () => statusOf(userId, {})));
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal((await call('GET', '/assistants')).body.assistants.length, 1);
  });
});
