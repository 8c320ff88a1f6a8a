// What users of the embedded identity provider are asked to consent to, and when.
import { type Configuration, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { MANAGEMENT_SCOPE } from '../../api/auth/scopes.ts';
import { CONSOLE_CLIENT_ID } from './client-ids.ts';
import { ONE_TIME_PARAMETER } from './one-time-link.ts';

/** The access that a client asks for; `refused`: the user left the scope out the last time. */
export type RequestedAccess = {
  openid: string[];
  claims: string[];
  resources: { name: string; scopes: { scope: string; refused: boolean }[] }[];
};

/** Why a login is asked for where the user has opened a one-time link. */
export const ONE_TIME_REASON = 'one_time_link';

/**
 * Asks for consent to each request of each client, for every scope it asks for. Anybody can register a client, or pose as a
 * native one on the user's machine (RFC 8252, 8.6). A scope that was refused once can be granted later.
 */
export function consentPolicy() {
  const policy = interactionPolicy.base();
  policy.get('consent')?.checks.add(
    new interactionPolicy.Check(
      'every_request',
      'the user has not been asked about this request',
      ({ oidc }) => oidc.client?.clientId !== CONSOLE_CLIENT_ID && !oidc.result?.consent,
      ({ oidc }) => ({ ...requestedAccess(oidc) }),
    ),
  );
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check(
        ONE_TIME_REASON,
        'the user has opened a one-time link',
        ({ oidc }) =>
          oidc.client?.clientId === CONSOLE_CLIENT_ID &&
          oidc.params?.[ONE_TIME_PARAMETER] !== undefined &&
          !oidc.result?.login,
      ),
    );
  return policy;
}

function requestedAccess(oidc: KoaContextWithOIDC['oidc']): RequestedAccess {
  const grant = oidc.grant;
  const resources = Object.entries(oidc.resourceServers ?? {}).map(([name, { scopes }]) => {
    const refused = grant?.getRejectedResourceScope(name).split(' ') ?? [];
    const asked = [...oidc.requestParamScopes].filter((scope) => scopes.has(scope));
    return { name, scopes: asked.map((scope) => ({ scope, refused: refused.includes(scope) })) };
  });
  return { openid: [...oidc.requestParamOIDCScopes], claims: [...oidc.requestParamClaims], resources };
}

// What the console may do is not asked for: it is the service itself, and its codes go nowhere else.

/**
 * Finds the grant of a sign-in. That of the console always has what this request asks for, whatever an earlier one did, and
 * the whole of the management API at the `audience` of this start: an earlier start can have had another port. A session has
 * one grant, to which the tokens of every tab belong.
 */
export function grantConsole(audience: string): NonNullable<Configuration['loadExistingGrant']> {
  return async function grantConsole({ oidc }) {
    const { client, session, provider, account } = oidc;
    const grantId = oidc.result?.consent?.grantId ?? session?.grantIdFor(client?.clientId ?? '');
    const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    if (client?.clientId !== CONSOLE_CLIENT_ID || !account) return existing;
    const { accountId } = account;
    const grant =
      existing?.accountId === accountId
        ? existing
        : new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope([...oidc.requestParamOIDCScopes]);
    grant.addOIDCClaims([...oidc.requestParamClaims]);
    grant.addResourceScope(audience, MANAGEMENT_SCOPE);
    await grant.save();
    return grant;
  };
}
