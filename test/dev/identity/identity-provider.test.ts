import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { MANAGEMENT_SCOPE } from '../../../api/auth/scopes.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { SCRIPT_CLIENT_ID } from '../../../dev/identity/client-ids.ts';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE } from '../../fakes/identity-provider.ts';
import { startWeir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { useIdentityProvider } from './identity-harness.ts';

describe('the embedded identity provider', () => {
  const { identity, restart, post, script, register, authorizeUrl, signIn, exchange } = useIdentityProvider();

  it('issues tokens for management when no resource is asked for, and for no other resource', async () => {
    const form = { grant_type: 'client_credentials', scope: MANAGEMENT_SCOPE };
    const { body } = await post('/token', form, script());
    assert.deepEqual(
      [decodeJwt(body.access_token ?? '').aud, decodeJwt(body.access_token ?? '').sub],
      [AUDIENCE, SCRIPT_CLIENT_ID],
    );
    const other = { grant_type: 'client_credentials', resource: 'https://other.test' };
    assert.equal((await post('/token', other, script())).body.error, 'invalid_target');
  });

  it('gives a registered client no token of its own', async () => {
    const registered = (await register({
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    })) as { client_id: string; client_secret?: string };
    const basic = `${registered.client_id}:${registered.client_secret}`;
    for (const scope of ['', 'openid', MANAGEMENT_SCOPE, 'flows:read']) {
      const { body } = await post('/token', { grant_type: 'client_credentials', scope }, basic);
      assert.equal(body.error, 'invalid_target', scope);
    }
  });

  it('asks for the code of a terminal on a page without inline handlers, which its policy would refuse', async () => {
    const { text } = await createBrowser(identity.provider.issuer).open(`${identity.provider.issuer}/device`);
    assert.match(text, /name="user_code"/);
    assert.doesNotMatch(text, / on\w+=/);
  });

  it('signs a script’s user in by the device flow', async () => {
    const device = await post('/device/auth', { resource: AUDIENCE, scope: MANAGEMENT_SCOPE }, script());
    const code = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.body.device_code as string,
    };
    assert.equal((await post('/token', code, script())).body.error, 'authorization_pending');
    const browser = createBrowser(identity.provider.issuer);
    await browser.open(device.body.verification_uri_complete as string);
    // The code is part of the address, and then confirmed.
    await browser.submit('/device');
    await browser.submit('/device');
    const email = 'admin@weir.local';
    await browser.submit('/login', { email, password: identity.passwords.get(email) ?? '' });
    assert.match((await browser.submit('/confirm')).text, /Signed in/);
    const { body } = await post('/token', code, script());
    assert.equal(decodeJwt(body.access_token as string).sub, 'dev-admin');
  });

  it('announces Client ID Metadata Documents and PKCE', async () => {
    const response = await fetch(`${identity.provider.issuer}/.well-known/openid-configuration`);
    const document = (await response.json()) as { [field: string]: unknown };
    assert.equal(document.client_id_metadata_document_supported, true);
    assert.deepEqual(document.code_challenge_methods_supported, ['S256']);
    assert.equal(typeof document.registration_endpoint, 'string');
  });

  it('is an issuer that Weir accepts, and keeps clients, sign-ins and keys over a restart', async () => {
    const weir = await startWeir({
      env: { WEIR_OIDC_ISSUER: identity.provider.issuer, WEIR_OIDC_AUDIENCE: AUDIENCE },
      worker: false,
    });
    try {
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, []);
      await insertMember(weir.db, {
        organizationId: tenant.organizationId,
        userId: 'dev-owner',
        role: 'owner',
      });
      const { client_id } = await register();
      const { browser } = await signIn(authorizeUrl(client_id, { resource: AUDIENCE, scope: '' }));
      const { body } = await exchange(client_id, (await browser.submit('/confirm')).url);
      const run = (key: string | undefined) =>
        weir.call('POST', `${flow}/jobs`, { key, body: { message: '' } });
      assert.equal((await run(body.access_token)).status, 202);

      const { issuer } = identity.provider;
      await restart();
      assert.equal(identity.provider.issuer, issuer);
      // Connections that were kept fail first.
      await waitUntil(() => fetch(`${issuer}/jwks`).catch(() => undefined));
      assert.deepEqual(identity.provider.passwords, []);
      const again = await post('/token', {
        grant_type: 'refresh_token',
        client_id,
        refresh_token: body.refresh_token as string,
      });
      assert.equal((await run(again.body.access_token)).status, 202);
    } finally {
      await weir.stop();
    }
  });

  it('stores no password in plain text, and lets nobody else read its files', () => {
    for (const name of readdirSync(identity.stateFolder)) {
      const file = path.join(identity.stateFolder, name);
      assert.equal(statSync(file).mode & 0o077, 0, name);
      for (const password of identity.passwords.values())
        assert.ok(!readFileSync(file, 'utf8').includes(password), name);
    }
  });
});
