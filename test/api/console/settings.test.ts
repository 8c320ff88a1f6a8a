import assert from 'node:assert/strict';
import packageJson from '../../../package.json' with { type: 'json' };
import { serveConsole } from './console-harness.ts';

describe('the settings of the console', () => {
  const settings = async (env: { [name: string]: string }) => {
    const site = await serveConsole({}, env);
    try {
      const answer = await fetch(`${site.url}/console/settings.json`);
      assert.equal(answer.status, 200);
      return (await answer.json()) as object;
    } finally {
      site.close();
    }
  };

  it('name where and as what its users sign in, and where Temporal’s Web UI is', async () => {
    const env = {
      WEIR_OIDC_ISSUER: 'https://issuer.example/',
      WEIR_OIDC_AUDIENCE: 'api://weir',
      WEIR_CONSOLE_CLIENT_ID: 'a-client',
      WEIR_CONSOLE_SCOPES: ' openid manage ',
      WEIR_TEMPORAL_UI_URL: 'https://temporal.example/',
      TEMPORAL_NAMESPACE: 'weir',
    };
    assert.deepEqual(await settings(env), {
      issuer: 'https://issuer.example/',
      clientId: 'a-client',
      scopes: 'openid manage',
      audience: 'api://weir',
      temporalUiUrl: 'https://temporal.example',
      temporalNamespace: 'weir',
      temporalEncrypted: false,
      version: packageJson.version,
    });
  });

  it('are null where nothing is configured', async () => {
    assert.deepEqual(await settings({}), {
      issuer: null,
      clientId: null,
      scopes: 'openid profile email offline_access',
      audience: null,
      temporalUiUrl: null,
      temporalNamespace: 'default',
      temporalEncrypted: false,
      version: packageJson.version,
    });
  });

  it('follow the public URL', async () => {
    const env = { WEIR_OIDC_ISSUER: 'https://issuer.example', WEIR_PUBLIC_URL: 'https://weir.example/' };
    const { audience } = (await settings(env)) as { audience: string };
    assert.equal(audience, 'https://weir.example/api/v1');
  });
});
