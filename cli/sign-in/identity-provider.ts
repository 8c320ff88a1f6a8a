// How the command reaches the identity provider of a service: the service's metadata (RFC 9728) names it.
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  ClientSecretBasic,
  type Configuration,
  discovery,
  None,
  ResponseBodyError,
  refreshTokenGrant,
  type TokenEndpointResponse,
  tokenRevocation,
} from 'openid-client';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { isLoopback } from '../../platform/config/urls.ts';
import { readAnswer } from '../api/read-answer.ts';
import type { Session } from './session-store.ts';

/** A provider that does not say how long its tokens last is asked for a new one after five minutes. */
const LIFETIME_SECONDS = 300;
const LIFETIME_MAX_SECONDS = 365 * 24 * 60 * 60;

const TIMEOUT_SECONDS = 15;
/** The code of openid-client for a token that has expired, or is not valid yet, when it arrives. */
const OTHER_TIME = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED';

/** The identity provider of a service; `session` is what a session has besides its tokens. */
export type Provider = {
  configuration: Configuration;
  scope: string;
  session: Pick<Session, 'issuer' | 'clientId' | 'audience'>;
};

const metadata = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.url()).optional(),
  weir_audience: z.string().optional(),
  weir_cli_client_id: z.string().optional(),
  scopes_supported: z.array(z.string()).default([]),
});

/** Gets the identity provider of the service at `url`. Throws a ServiceError that names the missing setting and its place. */
export async function getProvider(url: string): Promise<Provider> {
  requireTls('service', url);
  const { resource, authorization_servers, weir_audience, weir_cli_client_id, scopes_supported } =
    await readMetadata(url);
  if (resource !== `${url}/api/v1`)
    throw new ServiceError(
      'CONFLICT',
      `The service at ${url} says that it is ${resource.replace(/\/api\/v1$/, '')}: sign in there, or have its operator set WEIR_PUBLIC_URL.`,
    );
  const issuer = authorization_servers?.[0];
  if (issuer === undefined)
    throw new ServiceError(
      'CONFLICT',
      `No user can sign in to ${url}: its operator has set no WEIR_OIDC_ISSUER. API keys work: set WEIR_API_KEY.`,
    );
  if (weir_cli_client_id === undefined)
    throw new ServiceError(
      'CONFLICT',
      `weir login does not work with ${url} until its operator sets WEIR_CLI_CLIENT_ID. Set WEIR_TOKEN to a token of ${issuer}, or WEIR_API_KEY.`,
    );
  const session = { issuer, clientId: weir_cli_client_id, audience: weir_audience ?? resource };
  return { configuration: await discover(session), scope: scopes_supported.join(' '), session };
}

/** Reads the provider's metadata (OpenID Connect Discovery). The issuer in the metadata must be the configured issuer. */
export async function discover(
  { issuer, clientId }: Provider['session'],
  secret?: string,
): Promise<Configuration> {
  requireTls('identity provider', issuer);
  const authentication = secret === undefined ? None() : ClientSecretBasic(secret);
  return discovery(new URL(issuer), clientId, undefined, authentication, {
    timeout: TIMEOUT_SECONDS,
    execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
  }).catch(explain(issuer));
}

/** Names the service for which a token is wanted, in the words of RFC 8707 and in those of providers before it. */
export function wanted(audience: string): Record<string, string> {
  return { audience, ...(URL.canParse(audience) && { resource: audience }) };
}

/** Makes a handler of errors that says in a sentence what the provider at `issuer` refused, or that it cannot be reached. */
export function explain(issuer: string) {
  return (error: unknown): never => {
    if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
      const reason = REASONS[error.error] ?? error.error_description ?? error.error;
      throw new ServiceError(
        'UNAUTHENTICATED',
        `The identity provider at ${issuer} gave no token: ${reason}.`,
      );
    }
    if (error instanceof Error && 'code' in error && error.code === OTHER_TIME)
      throw new ServiceError(
        'UNAUTHENTICATED',
        `The token of the identity provider at ${issuer} is not valid at this time: set the clock of this machine, or of the provider.`,
      );
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new ServiceError(
      'IDENTITY_PROVIDER_UNAVAILABLE',
      `The identity provider at ${issuer} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`,
    );
  };
}

const REASONS: { [error: string]: string } = {
  access_denied: 'the sign-in was refused in the browser',
  expired_token: 'nobody signed in before the code expired; run the command again',
};

function requireTls(kind: string, url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  throw new ServiceError('VALIDATION_ERROR', `Tokens are sent over https only: the ${kind} is at ${url}.`);
}

async function readMetadata(url: string): Promise<z.output<typeof metadata>> {
  const { origin, pathname } = new URL(`${url}/api/v1`);
  const where = `${origin}/.well-known/oauth-protected-resource${pathname}`;
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1_000);
  const read = async (): Promise<unknown> =>
    JSON.parse(await readAnswer(await fetch(where, { redirect: 'error', signal })));
  const answer = await read().catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause.message || error.message : error.message;
    const why = error instanceof SyntaxError ? 'holds no JSON' : `cannot be read (${cause})`;
    throw new ServiceError('NOT_FOUND', `Is ${url} the address of a Weir service? ${where} ${why}.`);
  });
  const parsed = metadata.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new ServiceError(
    'NOT_FOUND',
    `Is ${url} the address of a Weir service? It does not say where its users sign in.`,
  );
}

/** Makes a session of the provider's answer; a refresh token that it did not replace stays. */
export function toSession(
  before: Pick<Session, 'issuer' | 'clientId' | 'audience' | 'refreshToken'>,
  { access_token, expires_in = LIFETIME_SECONDS, refresh_token }: TokenEndpointResponse,
): Session {
  const refreshToken = refresh_token ?? before.refreshToken;
  return {
    issuer: before.issuer,
    clientId: before.clientId,
    audience: before.audience,
    accessToken: access_token,
    expiresAt: Date.now() + Math.min(expires_in, LIFETIME_MAX_SECONDS) * 1_000,
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

/** Gets new tokens for a session; undefined when the provider has ended it. */
export async function refreshSession(session: Session, refreshToken: string): Promise<Session | undefined> {
  const configuration = await discover(session);
  try {
    return toSession(session, await refreshTokenGrant(configuration, refreshToken, wanted(session.audience)));
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return undefined;
    return explain(session.issuer)(error);
  }
}

/** Has the provider forget the refresh token of a session, where it offers that. */
export async function revokeSession(session: Session): Promise<void> {
  const configuration: Configuration = await discover(session);
  const { refreshToken } = session;
  if (refreshToken === undefined || !configuration.serverMetadata().revocation_endpoint) return;
  await tokenRevocation(configuration, refreshToken).catch(explain(session.issuer));
}
