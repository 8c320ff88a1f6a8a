// What users can change their minds about at the embedded identity provider: scopes, the account, being signed in.
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { MCP_AUDIENCE } from '../../fakes/identity-provider.ts';
import { useIdentityProvider } from './identity-harness.ts';

const PUBLISH = `flows:publish@${MCP_AUDIENCE}`;

describe('a signed-in user of the embedded identity provider', () => {
  const { identity, register, authorizeUrl, signIn, exchange, post } = useIdentityProvider();

  const member = () => ({
    email: 'member@weir.local',
    password: identity.passwords.get('member@weir.local') ?? '',
  });
  const claimsOf = async (clientId: string, returned: string) => {
    const { body } = await exchange(clientId, returned);
    return { claims: decodeJwt(body.access_token as string), refreshToken: body.refresh_token as string };
  };

  it('is asked again at each request, for all scopes, and may allow what they left out before', async () => {
    const { client_id } = await register();
    const url = authorizeUrl(client_id, { scope: 'flows:read flows:publish' });
    const { browser } = await signIn(url);
    const first = await claimsOf(client_id, (await browser.submit('/confirm', { [PUBLISH]: '' })).url);
    assert.equal(first.claims.scope, 'flows:read');
    const { text } = await browser.open(url);
    assert.match(text, /flows:read/);
    assert.match(text, /flows:publish<\/code>\), which you left out before/);
    const second = await claimsOf(client_id, (await browser.submit('/confirm')).url);
    assert.equal(second.claims.scope, 'flows:read flows:publish');
  });

  it('may leave out what they allowed before, and earlier connections of the client keep theirs', async () => {
    const { client_id } = await register();
    const url = authorizeUrl(client_id, { scope: 'flows:read flows:publish' });
    const { browser } = await signIn(url);
    const first = await claimsOf(client_id, (await browser.submit('/confirm')).url);
    await browser.open(url);
    const second = await claimsOf(client_id, (await browser.submit('/confirm', { [PUBLISH]: '' })).url);
    assert.equal(second.claims.scope, 'flows:read');
    const refresh = { grant_type: 'refresh_token', client_id, refresh_token: first.refreshToken };
    const { body } = await post('/token', refresh);
    assert.equal(decodeJwt(body.access_token as string).scope, 'flows:read flows:publish');
  });

  it('is named in the token with the client’s name and the time of consent, which a refreshed token keeps', async () => {
    const { client_id } = await register();
    const { browser } = await signIn(authorizeUrl(client_id));
    const { claims, refreshToken } = await claimsOf(client_id, (await browser.submit('/confirm')).url);
    assert.equal(claims.client_name, 'An <assistant>');
    assert.equal(typeof claims.consented_at, 'number');
    const { body } = await post('/token', {
      grant_type: 'refresh_token',
      client_id,
      refresh_token: refreshToken,
    });
    assert.equal(decodeJwt(body.access_token as string).consented_at, claims.consented_at);
  });

  it('can use another account on the consent page', async () => {
    const { client_id } = await register();
    const { browser, consent } = await signIn(authorizeUrl(client_id));
    const link = /href="(\/interaction\/[\w-]+\/switch)"/.exec(consent.text)?.[1] ?? '';
    assert.match((await browser.open(identity.provider.issuer + link)).text, /<h1>Sign in<\/h1>/);
    await browser.submit('/login', member());
    // The provider signs the first account out, with a form that a script sends.
    const page = await browser.submit('/session/end/confirm');
    assert.match(page.text, /as <strong>member@weir\.local<\/strong>/);
    const { claims } = await claimsOf(client_id, (await browser.submit('/confirm')).url);
    assert.equal(claims.sub, 'dev-member');
  });

  it('can sign out, after which each client has to sign in again', async () => {
    const { client_id } = await register();
    const { browser, consent } = await signIn(authorizeUrl(client_id));
    const { refreshToken } = await claimsOf(client_id, (await browser.submit('/confirm')).url);
    assert.match(consent.text, /<a href="\/session\/end">sign out<\/a>/);
    assert.match(
      (await browser.open(`${identity.provider.issuer}/session/end`)).text,
      /<h1>Sign out\?<\/h1>/,
    );
    assert.match((await browser.submit('/session/end/confirm', { logout: 'yes' })).text, /Signed out/);
    assert.match((await browser.open(authorizeUrl(client_id))).text, /<h1>Sign in<\/h1>/);
    const refresh = { grant_type: 'refresh_token', client_id, refresh_token: refreshToken };
    assert.equal((await post('/token', refresh)).status, 200);
  });
});
