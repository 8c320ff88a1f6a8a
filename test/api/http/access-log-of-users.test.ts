// The line of a user's request in the log says who they are and, where it is about one, for which organization they asked.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { captureLog } from '../../capture-log.ts';
import { type IdentityProvider, MCP_AUDIENCE } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

describe('the line of a user’s request in the log', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let captured: ReturnType<typeof captureLog>;
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
  });
  beforeEach(() => {
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  /** Sends a request to a path below /api/v1; returns its line. */
  async function lineOf(method: string, path: string, headers: { [name: string]: string }, body?: object) {
    const requestId = randomUUID();
    const answer = await fetch(`${weir.url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-request-id': requestId, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
    return waitUntil(() =>
      captured.lines.find(({ msg, request_id }) => msg === 'Request' && request_id === requestId),
    );
  }
  /** Does the same, and returns the user and the organization of the line. */
  async function namesOf(...request: Parameters<typeof lineOf>) {
    const line = await lineOf(...request);
    return [line.user_id, line.organization_id];
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('names both where the path names the organization, or a project of it', async () => {
    const both = [acme.users.member, acme.organizationId];
    for (const path of [
      `/organizations/${acme.organizationId}`,
      `/projects/${acme.projectId}`,
      `/projects/${acme.projectId}/flows`,
    ])
      assert.deepEqual(await namesOf('GET', path, bearer(acme.token.member)), both, path);
  });

  it('names both for tools of assistants', async () => {
    const token = await provider.token(acme.users.owner, {
      aud: MCP_AUDIENCE,
      scope: 'flows:read flows:write',
    });
    const both = [acme.users.owner, acme.organizationId];
    for (const [name, args] of [
      ['hydrate_project', { project_id: acme.projectId }],
      ['create_flow', { project_id: acme.projectId, name: 'New', slug: 'new' }],
      ['get_flow', { flow_id: acme.flowId }],
      ['update_flow', { flow_id: acme.flowId, description: 'd' }],
    ] as const) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
      const headers = { ...bearer(token), accept: 'application/json, text/event-stream' };
      assert.deepEqual(await namesOf('POST', '/mcp/', headers, body), both, name);
    }
  });

  it('names the tool of an assistant, and the code of the error that it was answered with', async () => {
    const token = await provider.token(acme.users.owner, { aud: MCP_AUDIENCE, scope: 'flows:read' });
    const params = { name: 'get_flow', arguments: { flow_id: randomUUID() } };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const headers = { ...bearer(token), accept: 'application/json, text/event-stream' };
    const { tool, code, status } = await lineOf('POST', '/mcp/', headers, body);
    assert.deepEqual([tool, code, status], ['get_flow', 'NOT_FOUND', 200]);
  });

  it('names the user whose content is decoded by the cookie of their session', async () => {
    const opened = await weir.call('POST', '/codec/session', { key: acme.token.member });
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    const [userId] = await namesOf('POST', '/codec/decode', { cookie }, { payloads: [] });
    assert.equal(userId, acme.users.member);
  });
});
