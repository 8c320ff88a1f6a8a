import { loopbackUrls } from './loopback.ts';

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
