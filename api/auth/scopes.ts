/** The scopes of MCP tokens, the least first: what a client may do for its user. */
export const MCP_SCOPES = ['flows:read', 'flows:write', 'flows:run', 'flows:publish'] as const;
export type McpScope = (typeof MCP_SCOPES)[number];

/** The scope of tokens for management and execution, where only the user's role decides. */
export const MANAGEMENT_SCOPE = 'manage';
