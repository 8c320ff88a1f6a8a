// Tools that write where something else has just changed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import type { Tx } from '../../../db/connect.ts';
import { deleteMember, lockMember } from '../../../db/tenants/memberships.ts';
import { deleteProjects } from '../../../db/tenants/projects.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import type { Tenant } from '../../harness.ts';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

type Ids = { project_id: string; flow_id: string; version_id: string; test_case_id: string };
const WRITES: { [tool: string]: (ids: Ids) => Record<string, unknown> } = {
  create_flow: ({ project_id }) => ({ project_id, name: 'New', slug: 'new' }),
  add_block: ({ flow_id }) => ({ flow_id, name: 'One', processor_type: 'passthrough' }),
  publish_version: ({ flow_id }) => ({ flow_id, note: '' }),
  set_production_version: ({ flow_id, version_id }) => ({ flow_id, version_id }),
  create_test_case: ({ flow_id }) => ({
    flow_id,
    name: 'new',
    message: 'm',
    expectation: { type: 'equals', value: 'm' },
  }),
  delete_test_case: ({ test_case_id }) => ({ test_case_id }),
  run_test_case: ({ test_case_id }) => ({ test_case_id }),
  run_all_tests: ({ flow_id }) => ({ flow_id }),
};
/** A membership is locked with the flow itself only by what changes flows. */
const OF_FLOWS = Object.keys(WRITES).filter((tool) => !tool.includes('test'));

describe('an MCP write', () => {
  let mcp: McpWeir;
  let client: Client;
  let tenant: Tenant;
  let ids: Ids;
  before(async () => {
    mcp = await startMcpWeir({ worker: false });
    client = await mcp.connect(await mcp.token('ada'));
  });
  beforeEach(async () => {
    tenant = await mcp.weir.createTenant();
    await mcp.join('ada', 'member', tenant);
    const ask = async (tool: string, args: Record<string, unknown>) => {
      const answer = await mcp.callTool(client, tool, args);
      assert.equal(answer.isError, false, answer.text);
      return answer.data;
    };
    const project_id = tenant.projectId;
    const { flow_id } = await ask('create_flow', { project_id, name: 'Flow', slug: `f-${randomUUID()}` });
    await ask('add_block', { flow_id, name: 'One', processor_type: 'passthrough' });
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    const input = { flow_id, name: 'case', message: 'm', expectation: { type: 'equals', value: 'm' } };
    const { test_case_id } = await ask('create_test_case', input);
    ids = { project_id, flow_id, version_id, test_case_id };
  });
  after(() => mcp.stop());

  const entries = async () => {
    const { length } = await mcp.weir.db
      .selectFrom('audit_entry')
      .select('id')
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    return length;
  };
  const remove = async (tx: Tx) => {
    await lockMember(tx, tenant.organizationId, 'ada');
    await deleteMember(tx, tenant.organizationId, 'ada');
  };
  const deleteProject = (tx: Tx) => deleteProjects(tx, tenant.organizationId, tenant.projectId);

  for (const [moment, change, tools] of [
    ['the project is deleted', deleteProject, Object.keys(WRITES)],
    ['the membership ends', remove, OF_FLOWS],
  ] as const)
    for (const tool of tools)
      it(`is NOT_FOUND at the very moment when ${moment}: ${tool}`, async () => {
        const before = await entries();
        const answer = await duringTransaction(mcp.weir.db, change, () =>
          mcp.callTool(client, tool, WRITES[tool]?.(ids) ?? {}),
        );
        assert.match(answer.text, /^NOT_FOUND/);
        assert.equal(await entries(), before);
      });
});
