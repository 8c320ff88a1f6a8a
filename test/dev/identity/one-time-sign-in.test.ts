// How the secret of a one-time link reaches the embedded identity provider, and what it does not stand for.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE } from '../../fakes/identity-provider.ts';
import { useIdentityProvider } from './identity-harness.ts';

const SERVICE = 'http://127.0.0.1:8787';
const BACK = `${SERVICE}/console/signed-in`;
const CONSOLE = 'weir-console';

describe('the embedded identity provider takes the secret of a one-time link', () => {
  const { identity, authorizeUrl, signIn } = useIdentityProvider({ consoleUrls: [SERVICE] });
  const linkUrl = (secret: string, more: Record<string, string> = {}) =>
    authorizeUrl(CONSOLE, {
      redirect_uri: BACK,
      resource: AUDIENCE,
      scope: 'openid manage',
      weir_one_time: secret,
      ...more,
    });
  const digestOf = (secret: string) => createHash('sha256').update(secret).digest('base64url');

  it('in the query alone: neither pushed, nor in a request object or a form, where it would not be replaced', async () => {
    const secret = identity.provider.issueOneTimeSecret();
    const { issuer } = identity.provider;
    for (const endpoint of ['/request', '/auth']) {
      const body = new URL(linkUrl(digestOf(secret))).searchParams;
      const { status } = await fetch(issuer + endpoint, { method: 'POST', body });
      assert.equal(status, 404, endpoint);
    }
    const unsigned = [{ alg: 'none' }, { client_id: CONSOLE, weir_one_time: digestOf(secret) }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const { url } = await createBrowser(issuer).open(linkUrl('', { request: `${unsigned}.` }));
    assert.equal(new URL(url).searchParams.get('error'), 'request_not_supported');
    const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
    const metadata = (await discovery.json()) as { [field: string]: unknown };
    assert.equal(metadata.pushed_authorization_request_endpoint, undefined);
  });

  it('not as its digest', async () => {
    const secret = identity.provider.issueOneTimeSecret();
    const { text } = await createBrowser(identity.provider.issuer).open(linkUrl(digestOf(secret)));
    assert.match(text, /<h1>Sign in<\/h1>/);
  });

  for (const more of [{ prompt: 'login' }, { max_age: '0' }] as Record<string, string>[])
    it(`and asks the owner for a password with a wrong one and ${JSON.stringify(more)}`, async () => {
      const { browser } = await signIn(linkUrl('wrong'));
      assert.ok((await browser.open(linkUrl('wrong'))).url.startsWith(BACK), 'who is signed in stays so');
      assert.match((await browser.open(linkUrl('wrong', more))).text, /<h1>Sign in<\/h1>/);
      const secret = identity.provider.issueOneTimeSecret();
      assert.ok((await browser.open(linkUrl(secret, more))).url.startsWith(BACK), 'a right one signs in');
    });
});
