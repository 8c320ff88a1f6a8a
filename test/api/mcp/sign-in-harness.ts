// A Weir whose users sign in at the embedded identity provider, with one user who is a member of a tenant.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { isDisconnected } from '../../../db/tenants/connected-assistants.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../dev/identity/identity-provider.ts';
import { findFreePort } from '../../../dev/processes/ports.ts';
import type { Account } from '../../fakes/browser.ts';
import type { OAuthClient } from '../../fakes/oauth-client.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const EMAIL = 'member@weir.local';

export type SignInWeir = {
  weir: Weir;
  identity: IdentityProvider;
  tenant: Tenant;
  /** The URL of the endpoint, with its slash. */
  mcpUrl: string;
  account: Account;
  /** Connects the official client, signs in where that leads to, and connects again. */
  signIn(
    oauth: OAuthClient,
    options?: { url?: string; mode?: 'legacy' | 'auto' },
  ): Promise<{ client: Client; transport: StreamableHTTPClientTransport }>;
  stop(): Promise<void>;
};

/** The caller stops it. `now`: the clock of used refresh tokens, in milliseconds. */
export async function startSignInWeir({
  now,
  ...options
}: {
  env?: NodeJS.ProcessEnv;
  worker?: boolean;
  now?: () => number;
} = {}): Promise<SignInWeir> {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-mcp-sign-in-'));
  const base = `http://127.0.0.1:${await findFreePort()}`;
  const mcpUrl = `${base}/api/v1/mcp/`;
  const audiences = { audience: `${base}/api/v1`, mcpAudience: mcpUrl };
  const identity = await startIdentityProvider({
    stateFolder,
    audiences,
    ...(now && { now }),
    isDisconnected: (consent) => isDisconnected(weir.db, consent),
  });
  const account = { email: EMAIL, password: new Map(identity.passwords).get(EMAIL) ?? '' };
  const weir: Weir = await startWeir({
    ...options,
    env: {
      WEIR_PORT: new URL(base).port,
      WEIR_PUBLIC_URL: base,
      WEIR_OIDC_ISSUER: identity.issuer,
      ...options.env,
    },
  });
  const tenant = await weir.createTenant();
  const { organizationId } = tenant;
  await insertMember(weir.db, { organizationId, userId: 'dev-member', role: 'admin' });

  const open = (oauth: OAuthClient, url: string, mode: 'legacy' | 'auto') => {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: oauth.provider });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    return { client, transport, connect: () => client.connect(transport) };
  };
  return {
    weir,
    identity,
    tenant,
    mcpUrl,
    account,
    async signIn(oauth, { url = mcpUrl, mode = 'auto' } = {}) {
      const first = open(oauth, url, mode);
      await assert.rejects(first.connect(), UnauthorizedError);
      await first.transport.finishAuth(await oauth.consent(account));
      const second = open(oauth, url, mode);
      await second.connect();
      return second;
    },
    async stop() {
      await weir.stop();
      await identity.close();
      rmSync(stateFolder, { recursive: true });
    },
  };
}
