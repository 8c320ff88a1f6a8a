import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { MCP_SCOPES } from '../../../api/scopes.ts';
import type { TestRun } from '../../../api/test-runs/describe-test-run.ts';
import { insertMember } from '../../../db/memberships.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../embedded/identity-provider.ts';
import { findFreePort } from '../../../embedded/ports.ts';
import { createOAuthClient, type OAuthClient } from '../../fakes/oauth-client.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const EMAIL = 'member@weir.local';

describe('sign-in of an MCP client', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-mcp-sign-in-'));
  let identity: IdentityProvider;
  let weir: Weir;
  let tenant: Tenant;
  let mcpUrl: string;
  let password: string;
  before(async () => {
    const base = `http://127.0.0.1:${await findFreePort()}`;
    mcpUrl = `${base}/api/v1/mcp/`;
    const audiences = { audience: `${base}/api/v1`, mcpAudience: mcpUrl };
    identity = await startIdentityProvider({ stateFolder, audiences });
    password = new Map(identity.passwords).get(EMAIL) ?? '';
    weir = await startWeir({
      env: { WEIR_PORT: new URL(base).port, WEIR_PUBLIC_URL: base, WEIR_OIDC_ISSUER: identity.issuer },
    });
    tenant = await weir.createTenant();
    await insertMember(weir.db, {
      organizationId: tenant.organizationId,
      userId: 'dev-member',
      role: 'member',
    });
  });
  after(async () => {
    await weir.stop();
    await identity.close();
    rmSync(stateFolder, { recursive: true });
  });

  const open = (oauth: OAuthClient, url: string, mode: 'legacy' | 'auto') => {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: oauth.provider });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    return { client, transport, connect: () => client.connect(transport) };
  };
  /** The client itself adds offline_access, for a refresh token. */
  const askedScopes = (oauth: OAuthClient) =>
    oauth
      .sentTo()
      .searchParams.get('scope')
      ?.split(' ')
      .filter((scope) => scope !== 'offline_access');
  /** Connects, signs in where that leads to, and connects again. */
  const signIn = async (oauth: OAuthClient, url: string, mode: 'legacy' | 'auto') => {
    const first = open(oauth, url, mode);
    await assert.rejects(first.connect(), UnauthorizedError);
    await first.transport.finishAuth(await oauth.consent(EMAIL, password));
    const second = open(oauth, url, mode);
    await second.connect();
    return second;
  };

  for (const mode of ['legacy', 'auto'] as const)
    for (const slash of ['/', ''])
      it(`leads a client that knows only …/mcp${slash} to its tools (${mode} negotiation)`, async () => {
        const oauth = createOAuthClient(identity.issuer);
        const { client } = await signIn(oauth, mcpUrl.replace(/\/$/, slash), mode);
        assert.deepEqual(askedScopes(oauth), MCP_SCOPES);
        assert.equal(oauth.sentTo().searchParams.get('code_challenge_method'), 'S256');
        const { structuredContent } = await client.callTool({ name: 'list_projects', arguments: {} });
        const { projects } = structuredContent as { projects: { project_id: string; role: string }[] };
        assert.deepEqual(
          projects.map(({ project_id, role }) => [project_id, role]),
          [[tenant.projectId, 'member']],
        );
      });

  it('lets it call every tool there is', async () => {
    const { client } = await signIn(createOAuthClient(identity.issuer), mcpUrl, 'auto');
    const left = new Set((await client.listTools()).tools.map(({ name }) => name));
    const call = async (name: string, args: Record<string, unknown>) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
      assert.ok(!isError, JSON.stringify(content));
      left.delete(name);
      return structuredContent as { [id: string]: string };
    };
    const project_id = tenant.projectId;
    await call('list_projects', {});
    const { flow_id } = await call('create_flow', { project_id, name: 'Flow', slug: 'every-tool' });
    const { step_id } = await call('add_block', { flow_id, name: 'One', processor_type: 'code' });
    await call('update_block', { flow_id, step_id, name: 'First' });
    await call('update_block_draft', { flow_id, step_id, content: 'return {};' });
    await call('update_block_output_schema', { flow_id, step_id, content: { type: 'object' } });
    const second = await call('add_block', { flow_id, name: 'Two', processor_type: 'passthrough' });
    await call('move_block', { flow_id, step_id: second.step_id, target_id: step_id, direction: 'bottom' });
    await call('delete_block', { flow_id, step_id: second.step_id });
    const expectation = { type: 'json_schema', schema: { type: 'object' } };
    const testCase = { flow_id, name: 'Shape', message: '', expectation };
    const { test_case_id } = await call('create_test_case', testCase);
    await call('run_test_case', { test_case_id });
    const { passed, results } = (await call('run_all_tests', { flow_id })) as never as TestRun;
    assert.equal(passed, 1);
    const { flow_run_id } = results[0] ?? {};
    await call('get_test_run_trace', { flow_run_id });
    await call('get_step_trace', { flow_run_id, step_id });
    await call('delete_test_case', { test_case_id });
    const { version_id } = await call('publish_version', { flow_id, note: 'first' });
    await call('set_production_version', { flow_id, version_id });
    await call('get_flow', { flow_id });
    await call('hydrate_project', { project_id });
    await call('list_runs', { flow_id });
    assert.deepEqual([...left], []);
  });

  it('asks for one scope more when a tool needs it, without giving up those it has', async () => {
    const oauth = createOAuthClient(identity.issuer, 'flows:read');
    const { client, transport } = await signIn(oauth, mcpUrl, 'auto');
    await client.callTool({ name: 'list_projects', arguments: {} });
    const create = {
      name: 'create_flow',
      arguments: { project_id: tenant.projectId, name: 'Flow', slug: 'step-up' },
    };
    await assert.rejects(client.callTool(create), UnauthorizedError);
    assert.deepEqual(askedScopes(oauth), ['flows:read', 'flows:write']);
    await transport.finishAuth(await oauth.consent(EMAIL, password));
    const { isError } = await client.callTool(create);
    assert.ok(!isError);
    await client.callTool({ name: 'list_projects', arguments: {} });
  });

  it('gives no access to the management API, nor a management token to MCP', async () => {
    const oauth = createOAuthClient(identity.issuer);
    await signIn(oauth, mcpUrl, 'auto');
    const tokens = (await oauth.provider.tokens()) as { access_token: string };
    const flow = await weir.createFlow(tenant, []);
    const answer = await weir.call('POST', `${flow}/jobs`, {
      key: tokens.access_token,
      body: { message: '' },
    });
    assert.equal(answer.status, 401);
  });
});
