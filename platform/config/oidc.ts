// Who may call the service and for what: the identity provider, its audiences, and the MCP endpoint.
import { readAudiences } from './audiences.ts';
import { isLoopback } from './loopback.ts';

export type Oidc = { issuer: string; audience: string; mcpAudience: string };
type OidcVariables = Parameters<typeof readAudiences>[0] & {
  WEIR_OIDC_ISSUER?: string | undefined;
  NODE_ENV: string;
};

/** Reads the issuer whose JWTs are accepted; undefined when there is none. Throws an Error that says what is wrong. */
export function readOidc(values: OidcVariables, baseUrl: string): Oidc | undefined {
  const issuer = values.WEIR_OIDC_ISSUER;
  if (!issuer) return undefined;
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && !isLoopback(hostname) && values.NODE_ENV === 'production')
    throw new Error(
      `WEIR_OIDC_ISSUER must be an https URL in production, because its keys decide who gets access; it is ${issuer}`,
    );
  const { audience, mcpAudience } = readAudiences(values, baseUrl);
  if (audience.replace(/\/$/, '') === mcpAudience.replace(/\/$/, ''))
    throw new Error(
      'WEIR_OIDC_AUDIENCE and WEIR_MCP_AUDIENCE must differ: a token is valid for one of them only.',
    );
  return { issuer, audience, mcpAudience };
}
