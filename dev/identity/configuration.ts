// The configuration of the embedded identity provider: code with PKCE, device flow, client credentials for `weir token`.
import { createHash } from 'node:crypto';
import type { JWK } from 'jose';
import type { Middleware } from 'koa';
import { type Configuration, errors } from 'oidc-provider';
import { MANAGEMENT_SCOPE, MCP_SCOPES } from '../../api/auth/scopes.ts';
import { loopbackUrls } from '../../platform/config/config.ts';
import type { Account } from './accounts.ts';
import { CONSOLE_CLIENT_ID, SCRIPT_CLIENT_ID } from './client-ids.ts';
import { identityClients, isOriginOf } from './clients.ts';
import { consentPolicy, grantConsole } from './consent.ts';
import { ONE_TIME_PARAMETER } from './one-time-link.ts';
import { deviceConfirm, deviceInput, escapeHtml, sendPage, sendSignOut } from './pages.ts';
import { createIdentityStore } from './store.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const TTL_SECONDS = {
  AccessToken: HOUR,
  AuthorizationCode: 60,
  ClientCredentials: HOUR,
  DeviceCode: 600,
  Grant: 90 * DAY,
  IdToken: HOUR,
  Interaction: HOUR,
  RefreshToken: 30 * DAY,
  Session: 14 * DAY,
};

/** Includes the scopes of the resources: clients name them when they register. */
const SCOPES = ['openid', 'offline_access', 'profile', 'email', MANAGEMENT_SCOPE, ...MCP_SCOPES];

export type IdentitySecrets = { jwk: JWK; cookieKey: string; scriptSecret: string };
/** `audience` is the `aud` of tokens for management and execution, `mcpAudience` that of tokens for MCP. */
export type Audiences = { audience: string; mcpAudience: string };

export type IsDisconnected = (consent: {
  userId: string;
  clientId: string;
  consentedAt: Date;
}) => Promise<boolean>;

export type IdentityOptions = {
  stateFolder: string;
  accounts: Account[];
  secrets: IdentitySecrets;
  audiences: Audiences;
  consoleUrls: string[];
  isDisconnected: IsDisconnected;
  /** The clock of used refresh tokens, in milliseconds. */
  now?: (() => number) | undefined;
};

export function identityConfiguration({
  stateFolder,
  accounts,
  secrets,
  audiences: { audience, mcpAudience },
  consoleUrls,
  isDisconnected,
  now,
}: IdentityOptions): Configuration {
  return {
    adapter: createIdentityStore(stateFolder, now),
    jwks: { keys: [secrets.jwk] },
    cookies: { keys: [secrets.cookieKey], names: cookieNames(secrets.cookieKey) },
    ttl: TTL_SECONDS,
    clients: identityClients(secrets.scriptSecret, consoleUrls),
    // Assistants mostly register a program with its own URL scheme, and do not always say so.
    clientDefaults: { application_type: 'native' },
    pkce: { required: () => true },
    responseTypes: ['code'],
    scopes: SCOPES,
    extraClientMetadata: { properties: ['scope'], validator: registerScopes },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    extraParams: [ONE_TIME_PARAMETER],
    loadExistingGrant: grantConsole(audience),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}`, policy: consentPolicy() },
    async findAccount({ oidc }, sub) {
      const account = accounts.find(({ id }) => id === sub);
      const { RefreshToken: refreshed, Grant: grant } = oidc.entities;
      const consent = refreshed &&
        grant?.iat !== undefined && {
          userId: sub,
          clientId: refreshed.clientId ?? '',
          consentedAt: new Date(grant.iat * 1_000),
        };
      if (consent && (await isDisconnected(consent))) return undefined;
      return account && { accountId: sub, claims: () => ({ sub, ...describe(account) }) };
    },
    async extraTokenClaims(ctx, token) {
      // Every access token passes here, whichever grant it comes from.
      if (token.resourceServer?.audience === audience) requireManagement(token.scope);
      const account = 'accountId' in token && accounts.find(({ id }) => id === token.accountId);
      if (!account) return undefined;
      return {
        ...describe(account),
        client_name: token.client?.clientName,
        consented_at: ctx.oidc.grant?.iat,
      };
    },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // Signing out ends the console's tokens, but not those of assistants.
    expiresWithSession: (_ctx, { clientId }) => clientId === CONSOLE_CLIENT_ID,
    clientBasedCORS: (_ctx, origin, client) => isOriginOf(client, origin),
    renderError: (ctx, { error, error_description: description }) =>
      sendPage(ctx, 'Something went wrong', `<p role="alert">${escapeHtml(description ?? error)}</p>`),
    features: {
      devInteractions: { enabled: false },
      // A request has its parameters in its query, where the secret of a one-time link is replaced by its digest.
      pushedAuthorizationRequests: { enabled: false },
      requestObjects: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: sendSignOut,
        postLogoutSuccessSource: (ctx) =>
          sendPage(ctx, 'Signed out', '<p>What you have allowed assistants to do stays allowed.</p>'),
      },
      clientCredentials: { enabled: true },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form, _out, error) =>
          sendPage(ctx, 'Sign in', deviceInput(form, error && 'This code is unknown or was refused.')),
        userCodeConfirmSource: (ctx, form, client, _info, code) =>
          sendPage(ctx, 'Is this yours?', deviceConfirm(form, client.clientName ?? client.clientId, code)),
        successSource: (ctx) => sendPage(ctx, 'Signed in', '<p>You can close this page.</p>'),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource({ oidc: { params } }) {
          if (wantsOnlyMcpScopes(params?.scope)) return mcpAudience;
          return isSignInOnly(params) ? undefined : audience;
        },
        useGrantedResource: () => true,
        getResourceServerInfo(ctx, resource, client) {
          const isScript = ctx.oidc.params?.grant_type === 'client_credentials';
          const known = [audience, mcpAudience].find((one) =>
            loopbackUrls(withoutSlash(one)).includes(withoutSlash(resource)),
          );
          const isConsole = client.clientId === CONSOLE_CLIENT_ID;
          if (
            known === undefined ||
            (isScript && client.clientId !== SCRIPT_CLIENT_ID) ||
            (isConsole && known === mcpAudience)
          )
            throw new errors.InvalidTarget();
          // Where a user is sent to be asked: nobody is asked for a token that would then be refused.
          if (known === audience && ctx.oidc.params?.grant_type === undefined)
            requireManagement(ctx.oidc.params?.scope);
          return {
            scope: known === mcpAudience ? MCP_SCOPES.join(' ') : MANAGEMENT_SCOPE,
            audience: known,
            accessTokenTTL: TTL_SECONDS.AccessToken,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          };
        },
      },
    },
  };
}

/** Cookies ignore ports: services with other state folders, on the same host, have cookies of other names. */
function cookieNames(cookieKey: string) {
  const suffix = createHash('sha256').update(cookieKey).digest('hex').slice(0, 8);
  return {
    session: `weir_session_${suffix}`,
    interaction: `weir_interaction_${suffix}`,
    resume: `weir_resume_${suffix}`,
  };
}

/** The claims about an account; the provider vouches for the addresses, which are its own. */
function describe({ email, role }: Account) {
  return { name: `Demo ${role}`, email, email_verified: true };
}

/**
 * Registers a client with those of its scopes that exist here, or with all when none does: clients name scopes of other servers.
 * A registered client has no limit: it may ask for more later, and the user decides about each request.
 */
const registerScopes: NonNullable<Configuration['extraClientMetadata']>['validator'] = (
  ctx,
  _key,
  value,
  metadata,
) => {
  // Without a request, a stored client or a metadata document is loaded.
  if (!ctx) delete metadata.scope;
  else if (typeof value === 'string') metadata.scope = (knownScopes(value) ?? SCOPES).join(' ');
};

/** Returns the scopes of a list that exist here; undefined when none does. */
function knownScopes(scope: unknown): string[] | undefined {
  const known = [...new Set(scopesOf(scope))].filter((name) => SCOPES.includes(name));
  return known.length > 0 ? known : undefined;
}

/**
 * Fills in the smallest scopes where a client names none: without a scope it would get no code (RFC 6749, 3.3). A client that
 * names only scopes of other servers, or `offline_access`, is asked for the smallest at MCP.
 */
export const defaultScope: Middleware = async (ctx, next) => {
  const { client_id, scope } = ctx.query;
  const [least] = MCP_SCOPES;
  const asksNothing = !knownScopes(scope)?.some((name) => name !== 'offline_access');
  if (ctx.path === '/auth' && client_id !== undefined && asksNothing)
    ctx.query = { ...ctx.query, scope: scope ? least : `${MANAGEMENT_SCOPE} ${least}` };
  await next();
};

/** Recognizes clients of early MCP revisions, which name no resource, by asking for MCP scopes only. */
function wantsOnlyMcpScopes(scope: unknown): boolean {
  const wanted = scopesOf(scope);
  return !wanted.includes(MANAGEMENT_SCOPE) && MCP_SCOPES.some((one) => wanted.includes(one));
}

/** Tells whether a user is to be signed in for a client that asks for nothing here: it gets a token for no resource. */
function isSignInOnly(params: { [name: string]: unknown } | undefined): boolean {
  const wanted = scopesOf(params?.scope);
  return wanted.includes('openid') && !wanted.includes(MANAGEMENT_SCOPE) && params?.grant_type === undefined;
}

/** The management API looks at the audience alone, as it has to with other providers: no token for it lacks its scope. */
function requireManagement(scope: unknown): void {
  if (!scopesOf(scope).includes(MANAGEMENT_SCOPE))
    throw new errors.InvalidScope(`this resource needs the scope ${MANAGEMENT_SCOPE}`, MANAGEMENT_SCOPE);
}

function scopesOf(scope: unknown): string[] {
  return String(scope ?? '').split(' ');
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}
