import assert from 'node:assert/strict';
import { readConfig } from '../../../platform/config/config.ts';

describe('configuration of MCP', () => {
  const read = (env: NodeJS.ProcessEnv) =>
    readConfig({
      DATABASE_URL: 'postgres://localhost/weir',
      WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
      WEIR_SECRETS_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
      ...env,
    });
  const AUDIENCE = 'https://weir.test/api/v1/mcp';
  const reached: [NodeJS.ProcessEnv, string][] = [
    [{}, 'http://127.0.0.1:8787/api/v1/mcp/'],
    [{ WEIR_HOST: '::1', WEIR_PORT: '1' }, 'http://[::1]:1/api/v1/mcp/'],
    [{ WEIR_PUBLIC_URL: 'https://h.test/weir/' }, 'https://h.test/weir/api/v1/mcp/'],
    [{ WEIR_MCP_AUDIENCE: AUDIENCE }, `${AUDIENCE}/`],
    [{ WEIR_MCP_AUDIENCE: 'weir-mcp' }, 'http://127.0.0.1:8787/api/v1/mcp/'],
    [{ WEIR_MCP_AUDIENCE: AUDIENCE, WEIR_PUBLIC_URL: 'https://h.test' }, 'https://h.test/api/v1/mcp/'],
  ];
  for (const [env, url] of reached)
    it(`has the URL ${url} with ${JSON.stringify(env)}`, () => {
      assert.equal(read(env).mcp.url, url);
    });

  it('allows pages of its own origin, under each name of this machine, and of the listed ones', () => {
    const { allowedOrigins } = read({ WEIR_MCP_ALLOWED_ORIGINS: 'https://a.test, http://b.test:1' }).mcp;
    const local = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:8787`);
    assert.deepEqual(allowedOrigins, [...local, 'https://a.test', 'http://b.test:1']);
    const { mcp } = read({ WEIR_PUBLIC_URL: 'https://weir.test' });
    assert.deepEqual([mcp.urls, mcp.allowedOrigins], [[mcp.url], ['https://weir.test']]);
    assert.throws(() => read({ WEIR_MCP_ALLOWED_ORIGINS: 'a.test' }), /WEIR_MCP_ALLOWED_ORIGINS/);
  });

  it('requires an audience other than that of management, regardless of a trailing slash', () => {
    const env = { WEIR_OIDC_ISSUER: 'https://id.test', WEIR_MCP_AUDIENCE: AUDIENCE };
    assert.throws(() => read({ ...env, WEIR_OIDC_AUDIENCE: `${AUDIENCE}/` }), /must differ/);
  });
});
