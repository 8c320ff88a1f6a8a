import assert from 'node:assert/strict';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { MCP_SCOPES } from '../../../api/auth/scopes.ts';
import { disconnect, listAssistants } from '../../../db/tenants/connected-assistants.ts';
import { createOAuthClient, type OAuthClient } from '../../fakes/oauth-client.ts';
import { waitUntil } from '../../wait-until.ts';
import { callEveryTool } from './call-every-tool.ts';
import { type SignInWeir, startSignInWeir } from './sign-in-harness.ts';

describe('sign-in of an MCP client', () => {
  let app: SignInWeir;
  before(async () => {
    app = await startSignInWeir();
  });
  after(() => app.stop());

  /** The client itself adds offline_access, for a refresh token. */
  const askedScopes = (oauth: OAuthClient) =>
    oauth
      .sentTo()
      .searchParams.get('scope')
      ?.split(' ')
      .filter((scope) => scope !== 'offline_access');

  for (const mode of ['legacy', 'auto'] as const)
    for (const slash of ['/', ''])
      it(`leads a client that knows only …/mcp${slash} to its tools (${mode} negotiation)`, async () => {
        const oauth = createOAuthClient(app.identity.issuer);
        const { client } = await app.signIn(oauth, { url: app.mcpUrl.replace(/\/$/, slash), mode });
        assert.deepEqual(askedScopes(oauth), MCP_SCOPES);
        assert.equal(oauth.sentTo().searchParams.get('code_challenge_method'), 'S256');
        const { structuredContent } = await client.callTool({ name: 'list_projects', arguments: {} });
        const { projects } = structuredContent as { projects: { project_id: string; role: string }[] };
        assert.deepEqual(
          projects.map(({ project_id, role }) => [project_id, role]),
          [[app.tenant.projectId, 'admin']],
        );
      });

  for (const mode of ['legacy', 'auto'] as const)
    it(`lets it call every tool (${mode} negotiation)`, async () => {
      const { client } = await app.signIn(createOAuthClient(app.identity.issuer), { mode });
      await callEveryTool({
        listed: (await client.listTools()).tools.map(({ name }) => name),
        projectId: app.tenant.projectId,
        slug: `every-tool-${mode}`,
        async callTool(name, args) {
          const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
          assert.ok(!isError, JSON.stringify(content));
          return structuredContent;
        },
      });
    });

  it('asks for one scope more when a tool needs it, without giving up those it has', async () => {
    const oauth = createOAuthClient(app.identity.issuer, 'flows:read');
    const { client, transport } = await app.signIn(oauth);
    await client.callTool({ name: 'list_projects', arguments: {} });
    const create = {
      name: 'create_flow',
      arguments: { project_id: app.tenant.projectId, name: 'Flow', slug: 'step-up' },
    };
    await assert.rejects(client.callTool(create), UnauthorizedError);
    assert.deepEqual(askedScopes(oauth), ['flows:read', 'flows:write']);
    await transport.finishAuth(await oauth.consent(app.account));
    const { isError } = await client.callTool(create);
    assert.ok(!isError);
    await client.callTool({ name: 'list_projects', arguments: {} });
  });

  it('sends the user of a disconnected client to sign in again, and lets it in after a new consent', async () => {
    const oauth = createOAuthClient(app.identity.issuer);
    const { client, transport } = await app.signIn(oauth);
    const list = () => client.callTool({ name: 'list_projects', arguments: {} });
    await list();
    const [connected] = (await listAssistants(app.weir.db, 'dev-member', { limit: 100 })).filter(
      ({ client_id }) => client_id === oauth.clientId(),
    );
    assert.deepEqual([connected?.name, connected?.scopes], ['An assistant', [...MCP_SCOPES]]);
    await app.weir.db.transaction().execute((tx) => disconnect(tx, 'dev-member', connected?.id ?? ''));
    // Times in tokens have whole seconds: a consent counts from the next one on.
    const disconnectedAt = Math.ceil(Date.now() / 1_000);
    await waitUntil(() => Date.now() / 1_000 > disconnectedAt);
    await assert.rejects(list(), UnauthorizedError);
    await transport.finishAuth(await oauth.consent(app.account));
    assert.ok(!(await list()).isError);
  });

  it('gives no access to the management API, nor a management token to MCP', async () => {
    const oauth = createOAuthClient(app.identity.issuer);
    await app.signIn(oauth);
    const tokens = (await oauth.provider.tokens()) as { access_token: string };
    const flow = await app.weir.createFlow(app.tenant, []);
    const answer = await app.weir.call('POST', `${flow}/jobs`, {
      key: tokens.access_token,
      body: { message: '' },
    });
    assert.equal(answer.status, 401);
  });
});
