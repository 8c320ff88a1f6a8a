// The three ways in which a client becomes known to the embedded identity provider, and what it never gets.
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
const CALLBACK = 'http://127.0.0.1:4711/callback';
const DOCUMENT_URL = 'https://assistant.test/client.json';

describe('the embedded identity provider knows a client', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-registration-'));
  const { fetch: realFetch } = globalThis;
  const verifier = randomBytes(32).toString('base64url');
  let provider: IdentityProvider;
  let documents: { [url: string]: unknown };
  before(async () => {
    provider = await startIdentityProvider({
      stateFolder,
      audiences: { audience: AUDIENCE, mcpAudience: MCP_AUDIENCE },
    });
    // The documents of clients are on the web, which a test does not reach.
    globalThis.fetch = async (input, init) =>
      String(input) in documents ? Response.json(documents[String(input)]) : realFetch(input, init);
  });
  beforeEach(() => {
    documents = {};
  });
  after(async () => {
    globalThis.fetch = realFetch;
    await provider.close();
    rmSync(stateFolder, { recursive: true });
  });

  const authorize = (client_id: string, redirect_uri = CALLBACK, response_type = 'code') => {
    const query = new URLSearchParams({
      client_id,
      redirect_uri,
      response_type,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: MCP_AUDIENCE,
      scope: 'flows:read',
    });
    return `${provider.issuer}/auth?${query}`;
  };
  /** Signs in, consents and answers the claims of the token that this gives. */
  const signIn = async (client_id: string, redirect_uri = CALLBACK) => {
    const browser = createBrowser(provider.issuer);
    await browser.open(authorize(client_id, redirect_uri));
    const password = new Map(provider.passwords).get(EMAIL) ?? '';
    const consent = await browser.submit('/login', { email: EMAIL, password });
    const code = new URL((await browser.submit('/confirm')).url).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier, redirect_uri };
    const answer = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    return { consent: consent.text, claims: decodeJwt(access_token) };
  };
  const metadata = (client_id: string) => ({
    client_id,
    client_name: 'By document',
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'none',
  });

  it('by its Client ID Metadata Document', async () => {
    documents[DOCUMENT_URL] = metadata(DOCUMENT_URL);
    const { consent, claims } = await signIn(DOCUMENT_URL);
    assert.match(consent, /By document/);
    assert.deepEqual([claims.sub, claims.client_id, claims.aud], ['dev-member', DOCUMENT_URL, MCP_AUDIENCE]);
  });

  it('by a document that names scopes of other servers, or fewer than the request', async () => {
    for (const [name, scope] of [
      ['foreign', 'claudeai'],
      ['narrow', 'openid'],
    ]) {
      const url = `https://assistant.test/${name}.json`;
      documents[url] = { ...metadata(url), scope };
      assert.equal((await signIn(url)).claims.scope, 'flows:read');
    }
  });

  it('by no document that belongs to another client, has other redirect URIs, or is not on the web', async () => {
    const other = 'https://assistant.test/other.json';
    documents[other] = metadata(DOCUMENT_URL);
    const elsewhere = 'https://assistant.test/elsewhere.json';
    documents[elsewhere] = { ...metadata(elsewhere), redirect_uris: ['http://127.0.0.1:1/other'] };
    for (const id of [
      other,
      elsewhere,
      'https://127.0.0.1:1/client.json',
      'http://assistant.test/client.json',
    ])
      assert.equal((await fetch(authorize(id), { redirect: 'manual' })).status, 400, id);
  });

  it('by its pre-registration as weir-local, with any port on loopback and no other address', async () => {
    for (const host of ['127.0.0.1:4711', 'localhost:50000'])
      for (const callback of ['callback', 'oauth/callback']) {
        const { claims } = await signIn('weir-local', `http://${host}/${callback}`);
        assert.deepEqual([claims.client_id, claims.scope], ['weir-local', 'flows:read']);
      }
    const foreign = authorize('weir-local', 'http://assistant.test/callback');
    assert.equal((await fetch(foreign, { redirect: 'manual' })).status, 400);
  });

  it('and answers all of them with a code only', async () => {
    const configuration = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
    const { response_types_supported, grant_types_supported } = (await configuration.json()) as {
      [field: string]: string[];
    };
    assert.deepEqual(response_types_supported, ['code']);
    assert.ok(!grant_types_supported?.includes('implicit'));
    const implicit = {
      ...metadata(''),
      client_id: undefined,
      response_types: ['id_token'],
      grant_types: ['implicit'],
    };
    const answer = await fetch(`${provider.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(implicit),
    });
    assert.equal(answer.status, 400);
  });
});
