type Given = { WEIR_OIDC_AUDIENCE?: string | undefined; WEIR_MCP_AUDIENCE?: string | undefined };

/** Reads the audiences of JWTs; their defaults begin with the base URL of the API. */
export function readAudiences(given: Given, baseUrl: string): { audience: string; mcpAudience: string } {
  return {
    audience: given.WEIR_OIDC_AUDIENCE || `${baseUrl}/api/v1`,
    mcpAudience: given.WEIR_MCP_AUDIENCE || `${baseUrl}/api/v1/mcp/`,
  };
}
