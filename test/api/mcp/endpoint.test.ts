import assert from 'node:assert/strict';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

const ALLOWED = 'https://assistant.test';

describe('MCP endpoint', () => {
  let mcp: McpWeir;
  let headers: Record<string, string>;
  before(async () => {
    mcp = await startMcpWeir({ worker: false, env: { WEIR_MCP_ALLOWED_ORIGINS: ALLOWED } });
    await mcp.join('ada', 'owner');
    headers = {
      authorization: `Bearer ${await mcp.token('ada')}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
  });
  after(() => mcp.stop());

  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  /** Fails when no answer comes, or one that is not read to its end. */
  const send = async (
    body: unknown,
    more: Record<string, string> = {},
    { method = 'POST', url = mcp.mcpUrl } = {},
  ) => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...more },
      ...(!['GET', 'HEAD', 'OPTIONS'].includes(method) && { body: raw }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const json = text.startsWith('event: ') ? /^data: (.*)$/m.exec(text)?.[1] : text;
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(json) : undefined };
  };
  const as = async (claims: Record<string, unknown>) => ({
    authorization: `Bearer ${await mcp.token('ada', claims)}`,
  });

  for (const legacy of [false, true])
    for (const slash of ['/', ''])
      it(`serves ${legacy ? 'earlier' : 'current'} clients at /api/v1/mcp${slash}`, async () => {
        const url = mcp.mcpUrl.replace(/\/$/, slash);
        const client = await mcp.connect(await mcp.token('ada'), { legacy, url });
        const { tools } = await client.listTools();
        assert.ok(tools.some(({ name }) => name === 'list_projects'));
        const { data } = await mcp.callTool(client, 'list_projects', {});
        assert.deepEqual(
          data.projects.map(({ project_id }: { project_id: string }) => project_id),
          [mcp.tenant.projectId],
        );
        await client.close();
      });

  describe('401', () => {
    const metadataUrl = () => mcp.mcpUrl.replace('/api/v1', '/.well-known/oauth-protected-resource/api/v1');

    it('leads a client without a token to the identity provider, by the form of the URL it knows', async () => {
      for (const slash of ['/', '']) {
        const url = mcp.mcpUrl.replace(/\/$/, slash);
        const { status, headers } = await send(LIST, { authorization: '' }, { url });
        assert.equal(status, 401);
        const metadata = metadataUrl().replace(/\/$/, slash);
        assert.equal(
          headers.get('www-authenticate'),
          `Bearer scope="flows:read flows:write flows:run flows:publish", resource_metadata="${metadata}"`,
        );
        const described = (await (await fetch(metadata)).json()) as { [field: string]: unknown };
        assert.equal(described.resource, url);
        assert.deepEqual(described.authorization_servers, [mcp.provider.issuer]);
      }
    });

    const refused: [string, () => Promise<Record<string, string>>][] = [
      ['an API key', async () => ({ authorization: `Bearer ${mcp.tenant.key}` })],
      ['a token for management', () => as({ aud: `${mcp.weir.url}/api/v1` })],
      ['a token for elsewhere', () => as({ aud: 'https://other.test/api/v1/mcp/' })],
      ['a token of another issuer', () => as({ iss: 'https://other.test' })],
      ['an expired token', () => as({ exp: Math.floor(Date.now() / 1000) - 60 })],
      ['no token at all', async () => ({ authorization: 'Bearer' })],
      ['another scheme', async () => ({ authorization: 'Basic YTpi' })],
    ];
    for (const [what, authorization] of refused)
      it(`refuses ${what} as invalid_token`, async () => {
        const { status, headers, body } = await send(LIST, await authorization());
        assert.equal(status, 401);
        assert.match(
          headers.get('www-authenticate') ?? '',
          /^Bearer error="invalid_token", .*resource_metadata="/,
        );
        assert.equal(body.detail.code, 'UNAUTHENTICATED');
      });

    it('is not answered to a token whose audience lacks the slash', async () => {
      assert.equal((await send(LIST, await as({ aud: mcp.mcpUrl.slice(0, -1) }))).status, 200);
    });
  });

  describe('403', () => {
    const call = (name: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: {} },
    });

    it('names the scopes to ask for: those of the token, and the one a tool needs', async () => {
      const needed = { create_flow: 'flows:write', publish_version: 'flows:publish' };
      for (const [tool, scope] of Object.entries(needed)) {
        const { status, headers, body } = await send(call(tool), await as({ scope: 'openid flows:read' }));
        assert.equal(status, 403);
        const challenge = headers.get('www-authenticate') ?? '';
        assert.match(challenge, /^Bearer error="insufficient_scope"/);
        assert.ok(challenge.includes(`scope="flows:read ${scope}"`), challenge);
        assert.ok(challenge.includes('resource_metadata="'), challenge);
        assert.equal(body.error, 'insufficient_scope');
      }
    });

    it('answers a token without scopes once it calls a tool, not before', async () => {
      assert.equal((await send(LIST, await as({ scope: '' }))).status, 200);
      assert.equal((await send(call('list_projects'), await as({ scope: '' }))).status, 403);
    });

    it('refuses web pages of foreign origins, with a token or without, and lets allowed ones in', async () => {
      for (const origin of ['https://evil.test', 'null', `${mcp.weir.url}.evil.test`, `${ALLOWED}:444`, 'x'])
        for (const method of ['POST', 'OPTIONS']) {
          const answer = await send(LIST, { origin }, { method });
          assert.equal(answer.status, 403, origin);
          assert.equal(answer.headers.get('access-control-allow-origin'), null);
        }
      for (const origin of [mcp.weir.url, ALLOWED]) {
        const answer = await send(LIST, { origin });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('access-control-allow-origin'), origin);
        const preflight = await send('', { origin }, { method: 'OPTIONS' });
        assert.equal(preflight.status, 204);
        assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Mcp-Method/);
      }
      const unknown = await send(LIST, { origin: ALLOWED, authorization: '' });
      assert.match(unknown.headers.get('access-control-expose-headers') ?? '', /WWW-Authenticate/);
    });
  });

  describe('hostile messages', () => {
    const rpc = (more: object) => ({ jsonrpc: '2.0', id: 1, ...more });
    const tool = (name: unknown, args: unknown = {}) =>
      rpc({ method: 'tools/call', params: { name, arguments: args } });
    const messages: [string, unknown, number, number | undefined][] = [
      ['an empty body', '', 400, -32_700],
      ['half a message', '{"jsonrpc": "2.0", ', 400, -32_700],
      ['null', null, 400, -32_600],
      ['a number', 7, 400, -32_600],
      ['an empty object', {}, 400, -32_600],
      ['an empty batch', [], 400, -32_600],
      ['a batch with an id twice', [LIST, LIST], 400, -32_600],
      ['another protocol', { ...LIST, jsonrpc: '1.0' }, 400, -32_600],
      ['an id that is null', { ...LIST, id: null }, 400, -32_600],
      ['an id that is an object', { ...LIST, id: {} }, 400, -32_600],
      ['neither method nor result', { jsonrpc: '2.0', id: 1 }, 400, -32_600],
      ['a key that reaches for the prototype', '{"__proto__": {}}', 400, -32_600],
      ['params nested too deeply', `{"params": ${'['.repeat(100)}${']'.repeat(100)}}`, 400, -32_600],
      ['over 8 MiB', ' '.repeat(9 * 1024 * 1024), 413, -32_600],
      ['an answer nobody asked for', rpc({ result: {} }), 202, undefined],
      [
        'a notification',
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
        202,
        undefined,
      ],
      ['an unknown method', rpc({ method: 'nope' }), 200, -32_601],
      ['a method of another capability', rpc({ method: 'resources/list' }), 200, -32_601],
      ['a call without a tool', rpc({ method: 'tools/call' }), 200, -32_602],
      ['a tool whose name is a number', tool(7), 200, -32_602],
      ['an unknown tool', tool('none'), 200, -32_602],
      ['a tool named constructor', tool('constructor'), 200, -32_602],
      ['a tool named __proto__', tool('__proto__'), 200, -32_602],
      ['arguments that are an array', tool('list_projects', []), 200, -32_602],
      ['initialize without parameters', rpc({ method: 'initialize' }), 200, -32_602],
      ['initialize with a list of parameters', rpc({ method: 'initialize', params: [] }), 400, -32_600],
    ];
    for (const [what, message, status, code] of messages)
      it(`answers ${status} ${code ?? ''} to ${what}`, async () => {
        const answer = await send(message);
        assert.equal(answer.status, status);
        assert.equal(answer.body?.error?.code, code);
      });

    const initialize = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const wrong: [string, object, string][] = [
      [
        'initialize',
        { capabilities: {}, clientInfo: { name: 7 } },
        'protocolVersion: is required; clientInfo.name: must be text; clientInfo.version: is required',
      ],
      [
        'initialize',
        { ...initialize, capabilities: { roots: 5 } },
        'capabilities.roots: must be a JSON object',
      ],
      ['initialize', { ...initialize, _meta: {}, capabilities: 5 }, 'capabilities: must be a JSON object'],
      ['initialize', { ...initialize, clientInfo: 'x' }, 'clientInfo: must be a JSON object'],
      ['tools/list', { cursor: 5 }, 'cursor: must be text'],
    ];
    for (const [method, params, message] of wrong)
      it(`names what is wrong with parameters, under the id of the request: ${method}, ${message}`, async () => {
        const { status, body } = await send(rpc({ method, params }));
        assert.equal(status, 200);
        assert.deepEqual(body, { jsonrpc: '2.0', error: { code: -32_602, message }, id: 1 });
      });

    const strange: [string, Record<string, string>, number][] = [
      ['no type of answer accepted', { accept: 'text/html' }, 406],
      ['JSON alone accepted', { accept: 'application/json' }, 406],
      ['text', { 'content-type': 'text/plain' }, 415],
      ['another charset', { 'content-type': 'application/json; charset=utf-16' }, 415],
      ['compression', { 'content-encoding': 'gzip' }, 415],
      ['a revision that does not exist', { 'mcp-protocol-version': '2099-01-01' }, 400],
      ['a revision that is not a date', { 'mcp-protocol-version': '<script>' }, 400],
      ['the current revision without its envelope', { 'mcp-protocol-version': '2026-07-28' }, 400],
      ['a session nobody opened', { 'mcp-session-id': 'x'.repeat(500) }, 200],
      ['an event nobody sent', { 'last-event-id': '7' }, 200],
    ];
    for (const [what, more, status] of strange)
      it(`answers ${status} to ${what}`, async () => {
        assert.equal((await send(LIST, more)).status, status);
      });

    it('refuses texts that PostgreSQL cannot store, and says which', async () => {
      for (const args of [
        { project_id: mcp.tenant.projectId, name: 'a\0b', slug: 'x' },
        { project_id: mcp.tenant.projectId, name: 'a', slug: 'x\0' },
      ]) {
        const { body } = await send(tool('create_flow', args));
        assert.ok(body.result.isError);
        assert.match(body.result.content[0].text, /^VALIDATION_ERROR/);
      }
      const { body } = await send(tool('list_projects', { after: '\0' }));
      assert.match(body.result.content[0].text, /^VALIDATION_ERROR: after: /);
    });
  });
});
