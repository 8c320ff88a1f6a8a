import assert from 'node:assert/strict';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

describe('MCP endpoint', () => {
  let mcp: McpWeir;
  before(async () => {
    mcp = await startMcpWeir({ worker: false });
    await mcp.join('ada', 'owner');
  });
  after(() => mcp.stop());

  for (const legacy of [false, true])
    for (const slash of ['/', ''])
      it(`serves ${legacy ? 'earlier' : 'current'} clients at /api/v1/mcp${slash}`, async () => {
        const url = mcp.mcpUrl.replace(/\/$/, slash);
        const client = await mcp.connect(await mcp.token('ada'), { legacy, url });
        const { tools } = await client.listTools();
        assert.ok(tools.some(({ name }) => name === 'list_projects'));
        const { structuredContent } = await client.callTool({ name: 'list_projects', arguments: {} });
        const { projects } = structuredContent as { projects: { project_id: string }[] };
        assert.deepEqual(
          projects.map(({ project_id }) => project_id),
          [mcp.tenant.projectId],
        );
        await client.close();
      });
});
