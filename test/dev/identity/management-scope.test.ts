// Tokens for management come from the embedded identity provider only where `manage` was asked for and allowed: the API
// looks at their audience alone.
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { MANAGEMENT_SCOPE } from '../../../api/auth/scopes.ts';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE, MCP_AUDIENCE } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { useIdentityProvider } from './identity-harness.ts';

const MANAGE_FIELD = `${MANAGEMENT_SCOPE}@${AUDIENCE}`;

describe('the embedded identity provider gives no access to management', () => {
  const { identity, post, script, register, authorizeUrl, signIn, exchange } = useIdentityProvider();
  let weir: Weir;
  before(async () => {
    const { issuer } = identity.provider;
    const env = { WEIR_OIDC_ISSUER: issuer, WEIR_OIDC_AUDIENCE: AUDIENCE, WEIR_MCP_AUDIENCE: MCP_AUDIENCE };
    weir = await startWeir({ env, worker: false });
  });
  after(() => weir.stop());

  const errorOf = (url: string) => new URL(url).searchParams.get('error');
  const statusOfMe = async (key: string | undefined) => (await weir.call('GET', '/me', { key })).status;
  const withoutResource = (clientId: string, scope: string) => {
    const url = new URL(authorizeUrl(clientId, { scope }));
    url.searchParams.delete('resource');
    return url.href;
  };

  for (const scope of ['manage', 'openid manage', 'openid manage flows:read'])
    it(`to a client that asks for ${scope} and whose user unchecks manage`, async () => {
      const { client_id } = await register();
      const { browser, consent } = await signIn(authorizeUrl(client_id, { resource: AUDIENCE, scope }));
      assert.match(consent.text, /manage your organizations as far as your role allows/);
      const { url } = await browser.submit('/confirm', { [MANAGE_FIELD]: '' });
      assert.deepEqual([errorOf(url), new URL(url).searchParams.get('code')], ['access_denied', null]);
    });

  for (const scope of ['openid', 'openid profile', 'flows:read', 'openid flows:read', 'unknown'])
    it(`to a client that asks for ${scope} at its address, and asks no user`, async () => {
      const { client_id } = await register();
      const browser = createBrowser(identity.provider.issuer);
      const { url } = await browser.open(authorizeUrl(client_id, { resource: AUDIENCE, scope }));
      assert.equal(errorOf(url), 'invalid_scope');
      const device = await post('/device/auth', { resource: AUDIENCE, scope }, script());
      assert.deepEqual([device.status, device.body.error], [400, 'invalid_scope']);
    });

  for (const scope of ['openid', 'openid profile'])
    it(`to a client that asks for ${scope} at no address: it signs the user in, as the page says`, async () => {
      const { client_id } = await register();
      const { browser, consent } = await signIn(withoutResource(client_id, scope));
      assert.match(consent.text, /wants to know that you are <strong>owner@weir\.local<\/strong>/);
      assert.match(consent.text, /It can do nothing on your behalf/);
      assert.doesNotMatch(consent.text, /type="checkbox"|Uncheck/);
      const { body } = await exchange(client_id, (await browser.submit('/confirm')).url);
      assert.equal(decodeJwt(body.id_token ?? '').sub, 'dev-owner');
      const form = { grant_type: 'refresh_token', client_id, refresh_token: body.refresh_token ?? '' };
      const again = await post('/token', form);
      for (const token of [body.access_token, body.id_token, again.body.access_token]) {
        assert.ok(token);
        assert.equal(await statusOfMe(token), 401);
      }
    });

  for (const asked of ['unknown', 'offline_access'])
    it(`to a client that asks for ${asked} alone at no address: it may read flows at MCP`, async () => {
      const { client_id } = await register();
      const { browser } = await signIn(withoutResource(client_id, asked));
      const { body } = await exchange(client_id, (await browser.submit('/confirm')).url);
      const { aud, scope } = decodeJwt(body.access_token ?? '');
      assert.deepEqual([aud, scope], [MCP_AUDIENCE, 'flows:read']);
    });

  it('to a client whose user allows it at MCP alone, of both', async () => {
    const { client_id } = await register();
    const url = `${authorizeUrl(client_id, { resource: AUDIENCE, scope: 'manage flows:read' })}&${new URLSearchParams({ resource: MCP_AUDIENCE })}`;
    const { browser } = await signIn(url);
    const allow = async (resource: string) => {
      const { url: returned } = await browser.submit('/confirm', { [MANAGE_FIELD]: '' });
      return (await exchange(client_id, returned, undefined, resource)).body;
    };
    assert.equal((await allow(AUDIENCE)).error, 'invalid_scope');
    await browser.open(url);
    const { aud, scope } = decodeJwt((await allow(MCP_AUDIENCE)).access_token ?? '');
    assert.deepEqual([aud, scope], [MCP_AUDIENCE, 'flows:read']);
  });

  it('to a refreshed token that is to have less than manage', async () => {
    const { client_id } = await register();
    const { browser } = await signIn(authorizeUrl(client_id, { resource: AUDIENCE, scope: 'openid manage' }));
    const { body } = await exchange(client_id, (await browser.submit('/confirm')).url);
    assert.equal(await statusOfMe(body.access_token), 200);
    const form = { grant_type: 'refresh_token', client_id, refresh_token: body.refresh_token ?? '' };
    assert.equal((await post('/token', { ...form, scope: 'openid' })).body.error, 'invalid_scope');
  });

  it('to a script that does not ask for it', async () => {
    for (const scope of ['', 'openid', 'flows:read']) {
      const form = { grant_type: 'client_credentials', resource: AUDIENCE, scope };
      assert.equal((await post('/token', form, script())).body.error, 'invalid_scope', scope);
    }
  });

  it('nor, without a flow scope, to anything at MCP, as the page says', async () => {
    const { client_id } = await register();
    const { consent } = await signIn(authorizeUrl(client_id, { scope: 'openid' }));
    assert.match(consent.text, /nothing yet; it asks you again for what it needs/);
    assert.doesNotMatch(consent.text, /type="checkbox"|Uncheck/);
  });
});
