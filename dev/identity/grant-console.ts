// What the console may do is not asked for: it is the service itself, and its codes go nowhere else.
import type { Configuration } from 'oidc-provider';
import { MANAGEMENT_SCOPE } from '../../api/auth/scopes.ts';
import { CONSOLE_CLIENT_ID } from './client-ids.ts';

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
