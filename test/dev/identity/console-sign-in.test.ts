// How users sign in to the console at the embedded identity provider, by password and by the one-time link.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE, MCP_AUDIENCE } from '../../fakes/identity-provider.ts';
import { useIdentityProvider } from './identity-harness.ts';

const SERVICE = 'http://127.0.0.1:8787';
const PUBLIC = 'https://weir.example';
const BACK = `${SERVICE}/console/signed-in`;
const CONSOLE = 'weir-console';
const LINK_OVER = /This link has been used, or is older than ten minutes/;

describe('the embedded identity provider signs users in to the console', () => {
  let now = 0;
  const { identity, post, restart, register, authorizeUrl, signIn, exchange } = useIdentityProvider({
    consoleUrls: [SERVICE, PUBLIC],
    now: () => now,
  });
  const consoleUrl = (more: Record<string, string> = {}) =>
    authorizeUrl(CONSOLE, { redirect_uri: BACK, resource: AUDIENCE, scope: 'openid manage', ...more });
  /** The authorization request that the console makes of the link. */
  const linkUrl = (secret = identity.provider.issueOneTimeSecret()) => consoleUrl({ weir_one_time: secret });
  const open = (url: string) => createBrowser(identity.provider.issuer).open(url);
  const endUrl = (more: Record<string, string> = {}) => {
    const post_logout_redirect_uri = `${SERVICE}/console/signed-out`;
    const search = new URLSearchParams({ client_id: CONSOLE, post_logout_redirect_uri, ...more });
    return `${identity.provider.issuer}/session/end?${search}`;
  };
  const claimsOf = async (returned: string) =>
    decodeJwt((await exchange(CONSOLE, returned, BACK)).body.access_token ?? '');
  const refresh = (refresh_token = '') =>
    post('/token', { grant_type: 'refresh_token', client_id: CONSOLE, refresh_token });

  describe('without asking for consent', () => {
    it('once they have signed in, and gives a token for the management API', async () => {
      const { browser, consent: returned } = await signIn(consoleUrl(), 'member@weir.local');
      assert.ok(returned.url.startsWith(`${BACK}?code=`), returned.url);
      const claims = await claimsOf(returned.url);
      assert.deepEqual([claims.sub, claims.aud, claims.scope], ['dev-member', AUDIENCE, 'manage']);
      const again = await browser.open(consoleUrl({ prompt: 'none' }));
      assert.equal((await claimsOf(again.url)).sub, 'dev-member');
    });

    it('at the public URL of the service, too', async () => {
      const { consent: returned } = await signIn(consoleUrl({ redirect_uri: `${PUBLIC}/console/signed-in` }));
      assert.ok(returned.url.startsWith(`${PUBLIC}/console/signed-in?code=`), returned.url);
    });

    for (const [what, redirect_uri] of [
      ['another port', 'http://127.0.0.1:8788/console/signed-in'],
      ['no port', 'http://127.0.0.1/console/signed-in'],
      ['localhost, to which another user may listen', 'http://localhost:8787/console/signed-in'],
      ['a path below', `${BACK}/more`],
      ['a query', `${BACK}?a=b`],
      ['another scheme', 'http://weir.example/console/signed-in'],
      ['a host that begins the same', 'https://weir.example.test/console/signed-in'],
    ] as const)
      it(`and refuses ${what}`, async () => {
        const { status, text } = await open(consoleUrl({ redirect_uri }));
        assert.equal(status, 400);
        assert.match(text, /redirect_uri/);
      });

    for (const [client, more] of [
      ['weir-console-dev', { redirect_uri: 'http://127.0.0.1:5173/console/signed-in' }],
      ['weir-local', { redirect_uri: 'http://127.0.0.1:8787/callback' }],
      ['weir-cli', { redirect_uri: 'http://127.0.0.1:8787/callback' }],
    ] as const)
      it(`which ${client} does not get`, async () => {
        const { consent: page } = await signIn(
          authorizeUrl(client, { resource: AUDIENCE, scope: 'openid manage', ...more }),
        );
        assert.match(page.text, /<h1>Allow access\?<\/h1>/);
      });

    it('nor does a client that has registered the redirect URI of the console', async () => {
      const { client_id } = await register({ redirect_uris: [BACK] });
      const { consent: page } = await signIn(authorizeUrl(client_id, { redirect_uri: BACK }));
      assert.match(page.text, /<h1>Allow access\?<\/h1>/);
    });

    it('and never gives the console a token for MCP', async () => {
      const { url } = await open(consoleUrl({ resource: MCP_AUDIENCE, scope: 'flows:read' }));
      assert.equal(new URL(url).searchParams.get('error'), 'invalid_target');
    });
  });

  describe('from the pages of the service alone (CORS):', () => {
    const askFrom = async (origin: string, client_id = CONSOLE) => {
      const body = new URLSearchParams({ grant_type: 'refresh_token', client_id, refresh_token: 'none' });
      const url = `${identity.provider.issuer}/token`;
      const { headers } = await fetch(url, { method: 'POST', headers: { origin }, body });
      return headers.get('access-control-allow-origin');
    };

    for (const origin of [SERVICE, PUBLIC])
      it(`${origin} may call the token endpoint`, async () => {
        assert.equal(await askFrom(origin), origin);
      });

    for (const origin of [
      'http://127.0.0.1:8788',
      'http://127.0.0.1',
      'http://localhost:8787',
      'https://evil.example',
      'null',
    ])
      it(`${origin} may not`, async () => {
        assert.equal(await askFrom(origin), null);
      });

    it('a console under development may from any port of this machine, and from nowhere else', async () => {
      const client = 'weir-console-dev';
      assert.equal(await askFrom('http://127.0.0.1:5173', client), 'http://127.0.0.1:5173');
      assert.equal(await askFrom('https://evil.example', client), null);
      assert.equal(await askFrom('https://127.0.0.1.evil.example', client), null);
    });
  });

  describe('and keeps them signed in', () => {
    it('with refresh tokens that are good for one use, and 30 seconds longer if the answer was lost', async () => {
      now = 1_000_000;
      const { consent: returned } = await signIn(consoleUrl());
      const { body } = await exchange(CONSOLE, returned.url, BACK);
      const second = await refresh(body.refresh_token);
      assert.equal(decodeJwt(second.body.access_token ?? '').aud, AUDIENCE);
      assert.notEqual(second.body.refresh_token, body.refresh_token);
      now += 20_000;
      const stranger = {
        grant_type: 'refresh_token',
        client_id: 'weir-cli',
        refresh_token: body.refresh_token ?? '',
      };
      assert.equal((await post('/token', stranger)).body.error, 'invalid_grant');
      const repeated = await refresh(body.refresh_token);
      assert.equal(decodeJwt(repeated.body.access_token ?? '').aud, AUDIENCE);
      // Counted from the first use.
      now += 10_000;
      assert.equal((await refresh(body.refresh_token)).body.error, 'invalid_grant');
      // Somebody else may have the first one: none of them counts any longer.
      for (const { body: later } of [second, repeated])
        assert.equal((await refresh(later.refresh_token)).body.error, 'invalid_grant');
    });

    it('until they sign out, which no assistant notices', async () => {
      const assistant = await register();
      const { browser } = await signIn(authorizeUrl(assistant.client_id));
      const allowed = await exchange(assistant.client_id, (await browser.submit('/confirm')).url);
      const { body } = await exchange(CONSOLE, (await browser.open(consoleUrl())).url, BACK);
      const page = await browser.open(endUrl({ id_token_hint: body.id_token ?? '' }));
      assert.match(page.text, /<script>/, 'it is not asked about again');
      const after = await browser.submit('/session/end/confirm', { logout: 'yes' });
      assert.equal(after.url, `${SERVICE}/console/signed-out`);
      assert.equal((await refresh(body.refresh_token)).body.error, 'invalid_grant');
      assert.match((await browser.open(consoleUrl())).text, /<h1>Sign in<\/h1>/);
      const { client_id } = assistant;
      const refresh_token = allowed.body.refresh_token ?? '';
      const goesOn = await post('/token', { grant_type: 'refresh_token', client_id, refresh_token });
      assert.equal(goesOn.status, 200);
    });
  });

  describe('and asks before they are signed out by a request', () => {
    it('without an ID token, which any page could send', async () => {
      const { browser } = await signIn(consoleUrl());
      const { text } = await browser.open(endUrl());
      assert.match(text, /<h1>Sign out\?<\/h1>/);
      assert.doesNotMatch(text, /<script/);
    });

    it('with the ID token of another user', async () => {
      const { consent: returned } = await signIn(consoleUrl(), 'member@weir.local');
      const { body } = await exchange(CONSOLE, returned.url, BACK);
      const { browser } = await signIn(consoleUrl());
      const { text } = await browser.open(endUrl({ id_token_hint: body.id_token ?? '' }));
      assert.match(text, /<h1>Sign out\?<\/h1>/);
      assert.doesNotMatch(text, /<script/);
    });
  });

  describe('by a one-time link', () => {
    it('as the owner, without a form', async () => {
      const returned = await open(linkUrl());
      assert.equal((await claimsOf(returned.url)).sub, 'dev-owner');
    });

    it('once, even for two at once', async () => {
      const url = linkUrl();
      const pages = await Promise.all([open(url), open(url), open(url)]);
      assert.equal(pages.filter((page) => page.url.startsWith(BACK)).length, 1);
      const refused = pages.filter((page) => LINK_OVER.test(page.text));
      assert.equal(refused.length, 2);
      assert.ok(refused.every(({ text }) => text.includes('<h1>Sign in</h1>')));
    });

    it('for ten minutes', async () => {
      const url = linkUrl();
      now += 10 * 60_000;
      assert.match((await open(url)).text, LINK_OVER);
    });

    it('with its password form where it is over', async () => {
      const browser = createBrowser(identity.provider.issuer);
      assert.match((await browser.open(linkUrl('over'))).text, LINK_OVER);
      const email = 'admin@weir.local';
      const password = identity.passwords.get(email) ?? '';
      assert.equal(
        (await claimsOf((await browser.submit('/login', { email, password })).url)).sub,
        'dev-admin',
      );
    });

    it('in the place of another account', async () => {
      const { browser } = await signIn(consoleUrl(), 'member@weir.local');
      await browser.open(linkUrl());
      // The provider signs the member out, with a form that a script sends.
      const returned = await browser.submit('/session/end/confirm');
      assert.equal((await claimsOf(returned.url)).sub, 'dev-owner');
      assert.equal((await claimsOf((await browser.open(consoleUrl())).url)).sub, 'dev-owner');
    });

    it('also when it is opened again by whom it has signed in, and is used up by it', async () => {
      const { browser } = await signIn(consoleUrl());
      const url = linkUrl();
      for (const time of ['first', 'second'])
        assert.equal((await claimsOf((await browser.open(url)).url)).sub, 'dev-owner', time);
      assert.match((await open(url)).text, LINK_OVER);
    });

    it('for no other client', async () => {
      const secret = identity.provider.issueOneTimeSecret();
      const more = { redirect_uri: 'http://127.0.0.1:1/callback', weir_one_time: secret };
      assert.match((await open(authorizeUrl('weir-local', more))).text, /<h1>Sign in<\/h1>/);
      assert.ok((await open(linkUrl(secret))).url.startsWith(BACK));
    });

    it('whose secret is in no file and no address but the one that was asked for', async () => {
      const secret = identity.provider.issueOneTimeSecret();
      const browser = createBrowser(identity.provider.issuer);
      await browser.open(linkUrl('wrong'));
      const returned = await browser.open(linkUrl(secret));
      const stored = readFileSync(path.join(identity.stateFolder, 'identity-records.json'), 'utf8');
      assert.ok(!stored.includes(secret) && !returned.url.includes(secret));
    });

    it('not after a restart', async () => {
      const url = linkUrl();
      await restart();
      assert.match((await open(url)).text, LINK_OVER);
    });
  });
});
