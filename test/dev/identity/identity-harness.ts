// The embedded identity provider, and what a client of it sends to sign its users in.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SCRIPT_CLIENT_ID } from '../../../dev/identity/client-ids.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../dev/identity/identity-provider.ts';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE, MCP_AUDIENCE } from '../../fakes/identity-provider.ts';

const CALLBACK = 'http://127.0.0.1:1/callback';

type Options = Partial<
  Pick<Parameters<typeof startIdentityProvider>[0], 'consoleUrls' | 'now' | 'audiences'>
>;

/** Registers the hooks of the enclosing `describe`. */
export function useIdentityProvider(options: Options = {}) {
  const identity = {} as { provider: IdentityProvider; passwords: Map<string, string>; stateFolder: string };
  before(async () => {
    identity.stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-identity-'));
    identity.provider = await start();
    identity.passwords = new Map(identity.provider.passwords);
    identity.provider.keepAccounts();
  });
  after(async () => {
    await identity.provider.close();
    rmSync(identity.stateFolder, { recursive: true });
  });

  const start = (port?: number, changed?: Options) =>
    startIdentityProvider({
      audiences: { audience: AUDIENCE, mcpAudience: MCP_AUDIENCE },
      ...options,
      ...changed,
      stateFolder: identity.stateFolder,
      port,
    });
  /** Ends the provider, and starts it again on its state folder and port. */
  const restart = async (changed?: Options) => {
    await identity.provider.close();
    identity.provider = await start(identity.provider.port, changed);
  };
  const post = async (endpoint: string, form: Record<string, string>, basic?: string) => {
    const response = await fetch(identity.provider.issuer + endpoint, {
      method: 'POST',
      // As in the browser: a restart would end an open connection.
      headers: { connection: 'close', ...(basic && { authorization: `Basic ${btoa(basic)}` }) },
      body: new URLSearchParams(form),
    });
    return { status: response.status, body: (await response.json()) as { [field: string]: string } };
  };
  /** The credentials of the client that `weir token` uses. */
  const script = () => `${SCRIPT_CLIENT_ID}:${identity.provider.scriptSecret}`;
  /** Registers a client. */
  const register = async (metadata: object = {}) => {
    const response = await fetch(`${identity.provider.issuer}/reg`, {
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
    return {
      status: response.status,
      ...((await response.json()) as { client_id: string; scope?: string; error?: string }),
    };
  };
  const verifier = randomBytes(32).toString('base64url');
  const authorizeUrl = (clientId: string, more: Record<string, string> = {}) => {
    const url = new URL(`${identity.provider.issuer}/auth`);
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
  /** Signs a user in, up to where the client is to be allowed what it asks for. */
  const signIn = async (url: string, email = 'owner@weir.local') => {
    const browser = createBrowser(identity.provider.issuer);
    assert.match((await browser.open(url)).text, /<h1>Sign in<\/h1>/);
    const consent = await browser.submit('/login', { email, password: identity.passwords.get(email) ?? '' });
    return { browser, consent };
  };
  /** Exchanges the code with which the browser `returned` for tokens. */
  const exchange = (clientId: string, returned: string, redirect_uri = CALLBACK, resource?: string) =>
    post('/token', {
      ...(resource !== undefined && { resource }),
      grant_type: 'authorization_code',
      client_id: clientId,
      code: new URL(returned).searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri,
    });

  return { identity, restart, post, script, register, authorizeUrl, signIn, exchange };
}
