import assert from 'node:assert/strict';
import { useTools } from './tools-harness.ts';

describe('the assistant of an operator', () => {
  const { tools, call, ask } = useTools({ env: { WEIR_OPERATORS: 'ada' }, worker: false });

  it('reaches what the user belongs to, and nothing else', async () => {
    const other = await tools.mcp.weir.createTenant();
    const { projects } = await ask('list_projects', {});
    assert.deepEqual(
      projects.map(({ project_id }: { project_id: string }) => project_id),
      [tools.mcp.tenant.projectId],
    );
    const refused = await call('hydrate_project', { project_id: other.projectId });
    assert.equal(refused.isError, true);
  });
});
