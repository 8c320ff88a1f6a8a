import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { MANAGEMENT_SCOPE } from '../../api/scopes.ts';
import { insertMember } from '../../db/memberships.ts';
import { SCRIPT_CLIENT_ID } from '../../embedded/identity-configuration.ts';
import { type IdentityProvider, startIdentityProvider } from '../../embedded/identity-provider.ts';
import { createBrowser } from '../fakes/browser.ts';
import { AUDIENCE, MCP_AUDIENCE } from '../fakes/identity-provider.ts';
import { startWeir } from '../harness.ts';

const CALLBACK = 'http://127.0.0.1:1/callback';

describe('the embedded identity provider', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-identity-'));
  let provider: IdentityProvider;
  let passwords: Map<string, string>;
  before(async () => {
    provider = await start();
    passwords = new Map(provider.passwords);
  });
  after(async () => {
    await provider.close();
    rmSync(stateFolder, { recursive: true });
  });

  const start = (port?: number) =>
    startIdentityProvider({
      stateFolder,
      port,
      audiences: { audience: AUDIENCE, mcpAudience: MCP_AUDIENCE },
    });
  const post = async (endpoint: string, form: Record<string, string>, basic?: string) => {
    const response = await fetch(provider.issuer + endpoint, {
      method: 'POST',
      ...(basic && { headers: { authorization: `Basic ${btoa(basic)}` } }),
      body: new URLSearchParams(form),
    });
    return { status: response.status, body: (await response.json()) as { [field: string]: string } };
  };
  const script = () => `${SCRIPT_CLIENT_ID}:${provider.scriptSecret}`;
  const register = async (metadata: object = {}) => {
    const response = await fetch(`${provider.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'An <assistant>',
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
        ...metadata,
      }),
    });
    return (await response.json()) as { client_id: string; error?: string };
  };
  const verifier = randomBytes(32).toString('base64url');
  const authorizeUrl = (clientId: string, more: Record<string, string> = {}) => {
    const url = new URL(`${provider.issuer}/auth`);
    url.search = new URLSearchParams({
      client_id: clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      state: 'the state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: MCP_AUDIENCE,
      scope: 'flows:read flows:write',
      ...more,
    }).toString();
    return url.href;
  };
  const signIn = async (url: string, email = 'owner@weir.local') => {
    const browser = createBrowser(provider.issuer);
    assert.match((await browser.open(url)).text, /<h1>Sign in<\/h1>/);
    const consent = await browser.submit('/login', { email, password: passwords.get(email) ?? '' });
    return { browser, consent };
  };
  const exchange = (clientId: string, returned: string) =>
    post('/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: new URL(returned).searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: CALLBACK,
    });

  it('signs a user in for a client that registered itself, who allows it, and issues a token for the resource', async () => {
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
      ['dev-owner', MCP_AUDIENCE, 'flows:read flows:write', 'owner@weir.local', provider.issuer],
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

  it('issues tokens for management when no resource is asked for, and for no other resource', async () => {
    const { body } = await post('/token', { grant_type: 'client_credentials' }, script());
    assert.deepEqual(
      [decodeJwt(body.access_token ?? '').aud, decodeJwt(body.access_token ?? '').sub],
      [AUDIENCE, SCRIPT_CLIENT_ID],
    );
    const other = { grant_type: 'client_credentials', resource: 'https://other.test' };
    assert.equal((await post('/token', other, script())).body.error, 'invalid_target');
  });

  it('asks before every client’s first code, also when the user is signed in and no scope is wanted', async () => {
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
    const browser = createBrowser(provider.issuer);
    await browser.open(authorizeUrl(client_id));
    const fail = async (email: string, password: string) =>
      (await browser.submit('/login', { email, password })).text;
    assert.match(await fail('member@weir.local', 'wrong'), /do not belong together/);
    assert.match(await fail('nobody@weir.local', 'wrong'), /do not belong together/);
    for (let attempt = 0; attempt < 4; attempt++) await fail('member@weir.local', 'wrong');
    assert.match(
      await fail('member@weir.local', passwords.get('member@weir.local') ?? ''),
      /Too many attempts/,
    );
  });

  it('counts attempts whatever the spelling of the email, also those that come at once', async () => {
    const url = authorizeUrl((await register()).client_id);
    const guess = async (email: string) => {
      const browser = createBrowser(provider.issuer);
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
    const response = await fetch(`${provider.issuer}/reg`, {
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
    const browser = createBrowser(provider.issuer);
    const plain = await browser.open(
      authorizeUrl(client_id, { code_challenge: '', code_challenge_method: '' }),
    );
    assert.match(plain.url, /error=invalid_request/);
    const elsewhere = await browser.open(authorizeUrl(client_id, { redirect_uri: 'http://127.0.0.1:2/x' }));
    assert.equal(elsewhere.status, 400);
    const { url } = await browser.open(authorizeUrl(client_id));
    assert.match((await createBrowser(provider.issuer).open(url)).text, /cannot go on/);
  });

  it('gives a registered client no token of its own', async () => {
    const registered = (await register({
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    })) as { client_id: string; client_secret?: string };
    const basic = `${registered.client_id}:${registered.client_secret}`;
    const { body } = await post('/token', { grant_type: 'client_credentials' }, basic);
    assert.equal(body.error, 'invalid_target');
  });

  it('signs a script’s user in by the device flow', async () => {
    const device = await post('/device/auth', { resource: AUDIENCE, scope: MANAGEMENT_SCOPE }, script());
    const code = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.body.device_code as string,
    };
    assert.equal((await post('/token', code, script())).body.error, 'authorization_pending');
    const browser = createBrowser(provider.issuer);
    await browser.open(device.body.verification_uri_complete as string);
    // The code is part of the address, and then confirmed.
    await browser.submit('/device');
    await browser.submit('/device');
    const email = 'admin@weir.local';
    await browser.submit('/login', { email, password: passwords.get(email) ?? '' });
    assert.match((await browser.submit('/confirm')).text, /Signed in/);
    const { body } = await post('/token', code, script());
    assert.equal(decodeJwt(body.access_token as string).sub, 'dev-admin');
  });

  it('announces Client ID Metadata Documents and PKCE', async () => {
    const response = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
    const document = (await response.json()) as { [field: string]: unknown };
    assert.equal(document.client_id_metadata_document_supported, true);
    assert.deepEqual(document.code_challenge_methods_supported, ['S256']);
    assert.equal(typeof document.registration_endpoint, 'string');
  });

  it('is an issuer that a Weir accepts, and survives a restart with clients, sign-ins and keys', async () => {
    const weir = await startWeir({
      env: { WEIR_OIDC_ISSUER: provider.issuer, WEIR_OIDC_AUDIENCE: AUDIENCE },
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

      const { issuer, port } = provider;
      await provider.close();
      provider = await start(port);
      assert.equal(provider.issuer, issuer);
      // Connections that were kept fail first.
      while (!(await fetch(`${issuer}/jwks`).catch(() => undefined)));
      assert.deepEqual(provider.passwords, []);
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

  it('keeps no password as it is, and its files to itself', () => {
    for (const name of readdirSync(stateFolder)) {
      const file = path.join(stateFolder, name);
      assert.equal(statSync(file).mode & 0o077, 0, name);
      for (const password of passwords.values())
        assert.ok(!readFileSync(file, 'utf8').includes(password), name);
    }
  });
});
