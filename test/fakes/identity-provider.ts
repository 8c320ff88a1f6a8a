// An OpenID Connect provider unlike the embedded one: other keys, another algorithm, other paths.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import Provider from 'oidc-provider';

export const AUDIENCE = 'https://weir.test/api/v1';
export const MCP_AUDIENCE = 'https://weir.test/api/v1/mcp/';
const KEY_ID = 'test-key';
const CLIENT_SECRET = 'a secret of a script';

export type IdentityProvider = {
  issuer: string;
  /** The environment of a Weir that trusts this provider. */
  env: NodeJS.ProcessEnv;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  /** Makes a token as the provider would issue it, except for `claims` and `header`. */
  token(
    userId: string,
    claims?: Record<string, unknown>,
    header?: Partial<JWTHeaderParameters>,
  ): Promise<string>;
  /** Gets a token from the provider itself, like a script that signs in with client credentials. */
  issue(clientId: string, resource: string): Promise<string>;
  /** Replaces the signing key, which is the only one in the JWKS; `fields` spoil its entry there. */
  rotateKey(fields?: object): Promise<void>;
  /** The number of requests for the JWKS so far. */
  jwksRequests(): number;
  close(): Promise<void>;
};

/** Starts a provider on loopback that knows the clients `clientIds`. */
export async function startIdentityProvider(clientIds: string[] = []): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: KEY_ID, alg: 'ES256', use: 'sig' };
  let jwksRequests = 0;
  let answer: ReturnType<Provider['callback']> | undefined;
  let signing = { key: privateKey, kid: KEY_ID };
  let rotated: string | undefined;
  const server = createServer((request, response) => {
    if (request.url === '/keys') jwksRequests += 1;
    if (request.url === '/keys' && rotated) response.end(rotated);
    else void answer?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [jwk] },
    clients: clientIds.map((client_id) => ({
      client_id,
      client_secret: CLIENT_SECRET,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    })),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: ['test'] },
    routes: { jwks: '/keys' },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: '',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  });
  answer = provider.callback();

  return {
    issuer,
    env: { WEIR_OIDC_ISSUER: issuer, WEIR_OIDC_AUDIENCE: AUDIENCE, WEIR_MCP_AUDIENCE: MCP_AUDIENCE },
    privateKey,
    publicKey,
    token(userId, claims, header) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ iss: issuer, aud: AUDIENCE, sub: userId, iat: now, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: signing.kid, ...header })
        .sign(signing.key);
    },
    async rotateKey(fields = {}) {
      const next = await generateKeyPair('ES256');
      signing = { key: next.privateKey, kid: 'next-key' };
      rotated = JSON.stringify({
        keys: [{ ...(await exportJWK(next.publicKey)), kid: signing.kid, ...fields }],
      });
    },
    async issue(clientId, resource) {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${clientId}:${encodeURIComponent(CLIENT_SECRET)}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
      });
      const answered = (await response.json()) as { access_token?: string };
      if (!answered.access_token) throw new Error(`No token: ${JSON.stringify(answered)}`);
      return answered.access_token;
    },
    jwksRequests: () => jwksRequests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
