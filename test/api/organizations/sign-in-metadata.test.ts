import assert from 'node:assert/strict';
import { startWeir } from '../../harness.ts';

describe('GET /.well-known/oauth-protected-resource/api/v1', () => {
  async function metadata(env: NodeJS.ProcessEnv, path = '/.well-known/oauth-protected-resource/api/v1') {
    const weir = await startWeir({ worker: false, env: { WEIR_PUBLIC_URL: 'https://weir.test', ...env } });
    try {
      const response = await fetch(weir.url + path);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('access-control-allow-origin'), '*');
      return (await response.json()) as { [field: string]: unknown };
    } finally {
      await weir.stop();
    }
  }

  it('names the issuer, the audience of its tokens, and the client and scopes of weir login', async () => {
    const answer = await metadata({
      WEIR_OIDC_ISSUER: 'https://id.test',
      WEIR_OIDC_AUDIENCE: 'weir-api',
      WEIR_CLI_CLIENT_ID: 'a-client',
    });
    assert.deepEqual(answer, {
      resource: 'https://weir.test/api/v1',
      authorization_servers: ['https://id.test'],
      weir_audience: 'weir-api',
      weir_cli_client_id: 'a-client',
      scopes_supported: ['openid', 'offline_access'],
      bearer_methods_supported: ['header'],
      resource_name: 'Weir',
      resource_documentation: 'https://weir.test/reference',
    });
  });

  it('names no issuer and no client where there are none, and has the path of the public URL', async () => {
    const env = { WEIR_PUBLIC_URL: 'https://h.test/weir', WEIR_CLI_SCOPES: 'api://weir/.default' };
    const answer = await metadata(env, '/.well-known/oauth-protected-resource/weir/api/v1');
    assert.equal(answer.resource, 'https://h.test/weir/api/v1');
    assert.deepEqual(answer.scopes_supported, ['api://weir/.default']);
    for (const field of ['authorization_servers', 'weir_audience', 'weir_cli_client_id'])
      assert.equal(field in answer, false);
  });
});
