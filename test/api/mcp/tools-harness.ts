// MCP's tools, as a member of an organization uses them with the official client.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import type { Tenant } from '../../harness.ts';
import { type McpWeir, startMcpWeir, type ToolAnswer } from './mcp-harness.ts';

type Arguments = Record<string, unknown>;

/** Registers the hooks of the enclosing `describe`; the member is ada. */
export function useTools(options: { env?: NodeJS.ProcessEnv; worker?: boolean } = {}) {
  const tools = {} as { mcp: McpWeir; client: Client };
  before(async () => {
    tools.mcp = await startMcpWeir(options);
    await tools.mcp.join('ada');
    tools.client = await tools.mcp.connect(await tools.mcp.token('ada'));
  });
  after(() => tools.mcp.stop());

  const call = (name: string, args: Arguments, by = tools.client): Promise<ToolAnswer> =>
    tools.mcp.callTool(by, name, args);
  /** The answer of a call that works. */
  const ask = async (name: string, args: Arguments, by = tools.client) => {
    const answer = await call(name, args, by);
    assert.equal(answer.isError, false, answer.text);
    return answer.data;
  };
  /** The id of a new flow without blocks. */
  const createFlow = async (tenant: Tenant = tools.mcp.tenant, by = tools.client) =>
    (await ask('create_flow', { project_id: tenant.projectId, name: 'Flow', slug: `f-${randomUUID()}` }, by))
      .flow_id as string;
  /** Adds a passthrough block, unless `more` says otherwise. */
  const add = (flow_id: string, name: string, more: Arguments = {}) =>
    ask('add_block', { flow_id, name, processor_type: 'passthrough', ...more });
  return { tools, call, ask, createFlow, add };
}
