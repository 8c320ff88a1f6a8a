// Consent at the embedded identity provider: which account gives it, to which client, for what and no more.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { type IdentityProvider, startIdentityProvider } from '../../../dev/identity/identity-provider.ts';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE, MCP_AUDIENCE } from '../../fakes/identity-provider.ts';

const EMAIL = 'member@weir.local';
const CALLBACK = 'http://127.0.0.1:1/callback';

describe('consent at the embedded identity provider', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-consent-'));
  const verifier = randomBytes(32).toString('base64url');
  let provider: IdentityProvider;
  before(async () => {
    const audiences = { audience: AUDIENCE, mcpAudience: MCP_AUDIENCE };
    provider = await startIdentityProvider({ stateFolder, audiences });
  });
  after(async () => {
    await provider.close();
    rmSync(stateFolder, { recursive: true });
  });

  const register = async (client_name: string) => {
    const metadata = { client_name, redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
    const answer = await fetch(`${provider.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    });
    return ((await answer.json()) as { client_id: string }).client_id;
  };
  /** The consent page of a client that asks for no resource, and the claims of the token it gets. */
  const signIn = async (scope: string, name = 'Assistant', choices: { [field: string]: string } = {}) => {
    const client_id = await register(name);
    const browser = createBrowser(provider.issuer);
    const query = new URLSearchParams({
      client_id,
      redirect_uri: CALLBACK,
      response_type: 'code',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      scope,
    });
    await browser.open(`${provider.issuer}/auth?${query}`);
    const password = new Map(provider.passwords).get(EMAIL) ?? '';
    const { text } = await browser.submit('/login', { email: EMAIL, password });
    const code = new URL((await browser.submit('/confirm', choices)).url).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier };
    const answer = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, redirect_uri: CALLBACK }),
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    return { text, claims: decodeJwt(access_token) };
  };

  it('gives a client that asks for flow scopes only no access to management, also when it names no resource', async () => {
    const { text, claims } = await signIn('flows:read flows:write');
    assert.deepEqual([claims.aud, claims.scope], [MCP_AUDIENCE, 'flows:read flows:write']);
    assert.ok(!text.includes(`<code>${AUDIENCE}</code>`));
  });

  it('says in words what a client may do, and gives it only what the user leaves checked', async () => {
    const leftOut = { [`flows:publish@${MCP_AUDIENCE}`]: '' };
    const { text, claims } = await signIn('flows:read flows:run flows:publish', 'Assistant', leftOut);
    assert.match(text, /run flows and test cases, which costs credits/);
    assert.match(text, /publish versions of flows/);
    assert.match(text, /<code>http:\/\/127\.0\.0\.1:1<\/code>/);
    assert.equal(claims.scope, 'flows:read flows:run');
  });

  it('gives a client that asks for management a token for it', async () => {
    const { claims } = await signIn('manage flows:read');
    assert.deepEqual([claims.aud, claims.scope], [AUDIENCE, 'manage']);
  });

  it('is asked for by the name of the account', async () => {
    assert.match(
      (await signIn('flows:read')).text,
      /act on your behalf, as <strong>member@weir\.local<\/strong>/,
    );
  });

  it('cuts a client’s name to length and sets it apart from the text around it', async () => {
    const { text } = await signIn('flows:read', `\u202e<b>${'x'.repeat(5_000)}`);
    assert.match(text, /<bdi>\u202e&lt;b&gt;x{76}…<\/bdi>/);
    assert.ok((/<main>.*<\/main>/s.exec(text)?.[0].length ?? Infinity) < 3_000);
  });
});
