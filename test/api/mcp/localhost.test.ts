// An endpoint of this machine by its other name: http://localhost is http://127.0.0.1.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { UnauthorizedError as UnauthorizedError1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import { createOAuthClient, type OAuthClient } from '../../fakes/oauth-client.ts';
import { type SignInWeir, startSignInWeir } from './sign-in-harness.ts';

describe('the MCP endpoint at http://localhost', () => {
  let app: SignInWeir;
  let url: string;
  before(async () => {
    app = await startSignInWeir({ worker: false });
    url = app.mcpUrl.replace('127.0.0.1', 'localhost');
  });
  after(() => app.stop());

  const audienceOf = async (oauth: OAuthClient) =>
    decodeJwt(((await oauth.provider.tokens()) as { access_token: string }).access_token).aud;

  for (const mode of ['legacy', 'auto'] as const)
    for (const slash of ['/', ''])
      it(`lets the official TypeScript client 2.x sign in at …/mcp${slash} (${mode} negotiation)`, async () => {
        const oauth = createOAuthClient(app.identity.issuer);
        const { client } = await app.signIn(oauth, { url: url.replace(/\/$/, slash), mode });
        const { isError } = await client.callTool({ name: 'list_projects', arguments: {} });
        assert.ok(!isError);
        assert.equal(await audienceOf(oauth), app.mcpUrl);
      });

  for (const slash of ['/', ''])
    it(`lets the official TypeScript client 1.x sign in at …/mcp${slash}`, async () => {
      const oauth = createOAuthClient(app.identity.issuer);
      const open = () => {
        const transport = new Transport1(new URL(url.replace(/\/$/, slash)), {
          authProvider: oauth.provider as never,
        });
        const client = new Client1({ name: 'test', version: '1' });
        return { client, transport, connect: () => client.connect(transport as never) };
      };
      const first = open();
      await assert.rejects(first.connect(), UnauthorizedError1);
      await first.transport.finishAuth((await oauth.consent(app.account)).get('code') ?? '');
      const { client, connect } = open();
      await connect();
      const { isError } = await client.callTool({ name: 'list_projects', arguments: {} });
      assert.ok(!isError);
    });

  const metadataAt = (host: string) => {
    const path = '/.well-known/oauth-protected-resource/api/v1/mcp/';
    return new Promise<{ resource: string }>((resolve, reject) => {
      request(new URL(path, app.mcpUrl), { headers: { host } }, async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(JSON.parse(text));
      })
        .on('error', reject)
        .end();
    });
  };

  it('is named in the metadata as the client named it, and by no name that is not of this machine', async () => {
    const { port } = new URL(app.mcpUrl);
    assert.equal((await metadataAt(`localhost:${port}`)).resource, url);
    assert.equal((await metadataAt(`127.0.0.1:${port}`)).resource, app.mcpUrl);
    for (const host of [`evil.example:${port}`, 'localhost:1', 'localhost'])
      assert.equal((await metadataAt(host)).resource, app.mcpUrl, host);
  });

  it('may be used by its own web pages under both names', async () => {
    const { origin } = new URL(url);
    for (const [from, status] of [
      [origin, 204],
      [new URL(app.mcpUrl).origin, 204],
      ['http://localhost:1', 403],
    ] as const) {
      const answer = await fetch(url, { method: 'OPTIONS', headers: { origin: from } });
      assert.equal(answer.status, status, from);
    }
  });
});
