// Every tool of the MCP endpoint (spec: MCP endpoint).
import { projectTools } from './project-tools.ts';
import type { McpTool } from './tool.ts';

export const MCP_TOOLS: McpTool[] = [...projectTools];
