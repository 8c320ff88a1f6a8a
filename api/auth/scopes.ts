// What a client may do for its user.

/** Scopes of tokens for MCP, the least first. */
export const MCP_SCOPES = ['flows:read', 'flows:write', 'flows:run', 'flows:publish'] as const;
export type McpScope = (typeof MCP_SCOPES)[number];

/** Scope of tokens for management and execution, where nothing but the user's role is asked for. */
export const MANAGEMENT_SCOPE = 'manage';
