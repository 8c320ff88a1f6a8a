// Who may call the service and for what: the identity provider, its audiences, and the MCP endpoint.
import { isLoopback, loopbackUrls } from './urls.ts';

/**
 * The MCP endpoint, with a trailing slash, and the origins whose web pages may use it. An endpoint of this machine has
 * several `urls`: localhost is 127.0.0.1.
 */
export type Mcp = { url: string; urls: string[]; allowedOrigins: string[] };

type McpVariables = {
  WEIR_MCP_AUDIENCE?: string | undefined;
  WEIR_PUBLIC_URL?: string | undefined;
  WEIR_MCP_ALLOWED_ORIGINS: string[];
};

type Given = { WEIR_OIDC_AUDIENCE?: string | undefined; WEIR_MCP_AUDIENCE?: string | undefined };

export type Oidc = { issuer: string; audience: string; mcpAudience: string };
type OidcVariables = Parameters<typeof readAudiences>[0] & {
  WEIR_OIDC_ISSUER?: string | undefined;
  NODE_ENV: string;
};

/** Reads the issuer whose JWTs are accepted; undefined without an issuer. Throws an Error with the problem. */
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

/** Reads the audiences of JWTs; their defaults begin with the base URL of the API. */
export function readAudiences(given: Given, baseUrl: string): { audience: string; mcpAudience: string } {
  return {
    audience: given.WEIR_OIDC_AUDIENCE || `${baseUrl}/api/v1`,
    mcpAudience: given.WEIR_MCP_AUDIENCE || `${baseUrl}/api/v1/mcp/`,
  };
}

/** Takes the endpoint from an audience that is its URL, unless WEIR_PUBLIC_URL is set; else it is below `baseUrl`. */
export function readMcp(values: McpVariables, baseUrl: string): Mcp {
  const audience = values.WEIR_MCP_AUDIENCE ?? '';
  const isUrl = /^https?:\/\/\S+\/api\/v1\/mcp\/?$/.test(audience) && URL.canParse(audience);
  const known = isUrl && values.WEIR_PUBLIC_URL === undefined;
  const url = known ? audience.replace(/\/?$/, '/') : `${baseUrl}/api/v1/mcp/`;
  const urls = loopbackUrls(url);
  const own = urls.map((one) => new URL(one).origin);
  return { url, urls, allowedOrigins: [...own, ...values.WEIR_MCP_ALLOWED_ORIGINS] };
}
