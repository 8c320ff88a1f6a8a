import { blockTools } from './block-tools.ts';
import { flowTools } from './flow-tools.ts';
import { modelTools } from './model-tools.ts';
import { projectTools } from './project-tools.ts';
import { runTools } from './run-tools.ts';
import { testTools } from './test-tools.ts';
import type { McpTool } from './tool.ts';
import { versionTools } from './version-tools.ts';

export const MCP_TOOLS: McpTool[] = [
  ...projectTools,
  ...modelTools,
  ...flowTools,
  ...blockTools,
  ...versionTools,
  ...testTools,
  ...runTools,
];
