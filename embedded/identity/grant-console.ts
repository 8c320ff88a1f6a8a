// What the console may do is not asked for: it is the service itself, and its codes go nowhere else.
import type { Configuration } from 'oidc-provider';
import { MANAGEMENT_SCOPE } from '../../api/auth/scopes.ts';
import { CONSOLE_CLIENT_ID } from './console-client-ids.ts';

/** Finds the grant of a sign-in; the console gets the whole of the management API where it has none yet. */
export function grantConsole(audience: string): NonNullable<Configuration['loadExistingGrant']> {
  return async function grantConsole({ oidc }) {
    const { client, session, provider, account } = oidc;
    const grantId = oidc.result?.consent?.grantId ?? session?.grantIdFor(client?.clientId ?? '');
    const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    if (existing || client?.clientId !== CONSOLE_CLIENT_ID || !account) return existing;
    const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
    grant.addOIDCScope([...oidc.requestParamOIDCScopes]);
    grant.addOIDCClaims([...oidc.requestParamClaims]);
    grant.addResourceScope(audience, MANAGEMENT_SCOPE);
    await grant.save();
    return grant;
  };
}
