// How users sign in at the embedded identity provider and give consent to a client.
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { createBrowser } from '../../fakes/browser.ts';
import { MCP_AUDIENCE } from '../../fakes/identity-provider.ts';
import { useIdentityProvider } from './identity-harness.ts';

describe('the embedded identity provider', () => {
  const { identity, post, register, authorizeUrl, signIn, exchange } = useIdentityProvider();

  it('signs a user in for a client that registered itself, asks for consent, and issues a token for the resource', async () => {
    const { client_id } = await register();
    const { browser, consent } = await signIn(authorizeUrl(client_id));
    assert.match(consent.text, /An &lt;assistant&gt;/);
    assert.match(consent.text, /flows:write/);
    const returned = await browser.submit('/confirm');
    assert.equal(new URL(returned.url).searchParams.get('state'), 'the state');
    const { body } = await exchange(client_id, returned.url);
    const claims = decodeJwt(body.access_token as string);
    assert.deepEqual(
      [claims.sub, claims.aud, claims.scope, claims.email, claims.iss],
      ['dev-owner', MCP_AUDIENCE, 'flows:read flows:write', 'owner@weir.local', identity.provider.issuer],
    );
    const again = await post('/token', {
      grant_type: 'refresh_token',
      client_id,
      refresh_token: body.refresh_token as string,
    });
    assert.equal(decodeJwt(again.body.access_token as string).aud, MCP_AUDIENCE);
  });

  it('names the resource the same whether it is asked for with its slash or without', async () => {
    const { client_id } = await register();
    const { browser } = await signIn(authorizeUrl(client_id, { resource: MCP_AUDIENCE.slice(0, -1) }));
    const { body } = await exchange(client_id, (await browser.submit('/confirm')).url);
    assert.equal(decodeJwt(body.access_token as string).aud, MCP_AUDIENCE);
  });

  it('asks for consent before every client’s first code, even when the user is signed in and no scope is requested', async () => {
    const { browser } = await signIn(authorizeUrl((await register()).client_id));
    await browser.submit('/confirm');
    const second = await register();
    const page = await browser.open(authorizeUrl(second.client_id, { scope: '' }));
    assert.match(page.text, /Allow access\?/);
    const returned = await browser.submit('/abort');
    assert.equal(new URL(returned.url).searchParams.get('error'), 'access_denied');
  });

  it('lets nobody in with a wrong password, an unknown email, or too many attempts', async () => {
    const { client_id } = await register();
    const browser = createBrowser(identity.provider.issuer);
    await browser.open(authorizeUrl(client_id));
    const fail = async (email: string, password: string) =>
      (await browser.submit('/login', { email, password })).text;
    assert.match(await fail('member@weir.local', 'wrong'), /email or the password is wrong/);
    assert.match(await fail('nobody@weir.local', 'wrong'), /email or the password is wrong/);
    for (let attempt = 0; attempt < 4; attempt++) await fail('member@weir.local', 'wrong');
    assert.match(
      await fail('member@weir.local', identity.passwords.get('member@weir.local') ?? ''),
      /Too many attempts/,
    );
  });

  it('counts attempts whatever the spelling of the email, also simultaneous ones', async () => {
    const url = authorizeUrl((await register()).client_id);
    const guess = async (email: string) => {
      const browser = createBrowser(identity.provider.issuer);
      await browser.open(url);
      return (await browser.submit('/login', { email, password: 'wrong' })).text;
    };
    const spellings = [
      'someone@weir.local',
      'SOMEONE@weir.local',
      ' someone@weir.local',
      'Someone@Weir.Local ',
    ];
    const answers = await Promise.all([...spellings, ...spellings].map(guess));
    const refused = answers.filter((text) => text.includes('Too many attempts'));
    assert.equal(refused.length, answers.length - 5);
    assert.match(answers[0] ?? '', /value="someone@weir.local"/);
  });

  it('lets programs register a URL scheme of their own, and says where a code for them goes', async () => {
    const redirect_uri = 'some-editor://assistant.example/callback';
    const response = await fetch(`${identity.provider.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' }),
    });
    const { client_id } = (await response.json()) as { client_id: string };
    const { consent } = await signIn(authorizeUrl(client_id, { redirect_uri }));
    assert.match(consent.text, /<code>some-editor:\/\/assistant.example\/callback<\/code>/);
  });

  it('refuses a code without PKCE, another redirect address, and another browser’s sign-in', async () => {
    const { client_id } = await register();
    const browser = createBrowser(identity.provider.issuer);
    const plain = await browser.open(
      authorizeUrl(client_id, { code_challenge: '', code_challenge_method: '' }),
    );
    assert.match(plain.url, /error=invalid_request/);
    const elsewhere = await browser.open(authorizeUrl(client_id, { redirect_uri: 'http://127.0.0.1:2/x' }));
    assert.equal(elsewhere.status, 400);
    const { url } = await browser.open(authorizeUrl(client_id));
    assert.match((await createBrowser(identity.provider.issuer).open(url)).text, /cannot continue/);
  });
});
