// What the console may do is the same whatever an earlier start of the service, or any other page, has asked for.
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE } from '../../fakes/identity-provider.ts';
import { useIdentityProvider } from './identity-harness.ts';

const SERVICE = 'http://127.0.0.1:8787';
const BACK = `${SERVICE}/console/signed-in`;
const CONSOLE = 'weir-console';

describe('the console is never asked for consent', () => {
  const { identity, post, restart, authorizeUrl, signIn, exchange } = useIdentityProvider({
    consoleUrls: [SERVICE],
  });
  const consoleUrl = (more: Record<string, string> = {}) =>
    authorizeUrl(CONSOLE, { redirect_uri: BACK, resource: AUDIENCE, scope: 'openid manage', ...more });
  const assertSignedIn = async (returned: string, back = BACK, audience = AUDIENCE) => {
    assert.ok(returned.startsWith(`${back}?code=`), returned);
    const { aud, scope } = decodeJwt((await exchange(CONSOLE, returned, back)).body.access_token ?? '');
    assert.deepEqual([aud, scope], [audience, 'manage']);
  };

  it('when the service has started on another port since the user signed in, by session and by link', async () => {
    const { browser } = await signIn(consoleUrl(), 'owner@weir.local');
    const moved = 'http://127.0.0.1:9797';
    const audience = `${moved}/api/v1`;
    await restart({ consoleUrls: [moved], audiences: { audience, mcpAudience: `${audience}/mcp/` } });
    const back = `${moved}/console/signed-in`;
    const asked = { redirect_uri: back, resource: audience };
    await assertSignedIn((await browser.open(consoleUrl(asked))).url, back, audience);
    const weir_one_time = identity.provider.issueOneTimeSecret();
    await assertSignedIn((await browser.open(consoleUrl({ ...asked, weir_one_time }))).url, back, audience);
    await restart();
    await assertSignedIn((await browser.open(consoleUrl())).url);
  });

  const requests: [what: string, more: Record<string, string>][] = [
    ['no openid', { scope: 'manage' }],
    ['a scope that no other request had', { scope: 'openid profile manage' }],
    ['every scope', { scope: 'openid profile email offline_access manage flows:read' }],
    ['the user to be asked', { prompt: 'consent' }],
  ];
  for (const [what, more] of requests)
    it(`when a page has asked for ${what}, first or later`, async () => {
      const first = await signIn(consoleUrl(more));
      await assertSignedIn(first.consent.url);
      await assertSignedIn((await first.browser.open(consoleUrl())).url);
      const later = await signIn(consoleUrl());
      await assertSignedIn((await later.browser.open(consoleUrl(more))).url);
      await assertSignedIn((await later.browser.open(consoleUrl())).url);
    });

  it('and a page that opens it once more leaves the tokens of the other tabs as they are', async () => {
    const { browser, consent: returned } = await signIn(consoleUrl());
    const { body } = await exchange(CONSOLE, returned.url, BACK);
    for (const [, more] of requests) await assertSignedIn((await browser.open(consoleUrl(more))).url);
    const refresh_token = body.refresh_token ?? '';
    const form = { grant_type: 'refresh_token', client_id: CONSOLE, refresh_token };
    assert.equal((await post('/token', form)).status, 200);
  });

  it('but is shown the form to sign in where the user has not', async () => {
    const browser = createBrowser(identity.provider.issuer);
    assert.match((await browser.open(consoleUrl({ prompt: 'consent' }))).text, /<h1>Sign in<\/h1>/);
  });
});
