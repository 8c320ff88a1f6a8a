// A flow from nothing to production through MCP alone.
import assert from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { answer, type FakeModelServer, respond, startFakeModelServer } from '../../fakes/model-server.ts';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

describe('A whole flow through MCP alone', () => {
  let models: FakeModelServer;
  let mcp: McpWeir;
  let client: Client;
  let writes: Map<string, boolean>;
  let outputs: Map<string, ValidateFunction>;
  const called = new Set<string>();
  before(async () => {
    models = await startFakeModelServer();
    mcp = await startMcpWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
    await mcp.join('ada', 'admin');
    client = await mcp.connect(await mcp.token('ada'));
    const { tools } = await client.listTools();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    writes = new Map(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint === false]));
    outputs = new Map(tools.map(({ name, outputSchema = {} }) => [name, ajv.compile(outputSchema)]));
  });
  after(async () => {
    await mcp.stop();
    await models.close();
  });

  const countEntries = async () => {
    const { count } = await mcp.weir.db
      .selectFrom('audit_entry')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', mcp.tenant.organizationId)
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  /**
   * Calls a tool. Its answer is as listed, and if it writes it leaves an entry in the audit log, unless it `changes` nothing.
   */
  const ask = async (name: string, args: Record<string, unknown>, changes = writes.get(name)) => {
    called.add(name);
    const before = await countEntries();
    const { isError, text, data } = await mcp.callTool(client, name, args);
    assert.equal(isError, false, text);
    const isListed: boolean | undefined = outputs.get(name)?.(data);
    assert.ok(isListed, `${name}: ${JSON.stringify(outputs.get(name)?.errors)}`);
    assert.equal((await countEntries()) - before, changes ? 1 : 0, name);
    return data;
  };

  it('is designed of llm, code, parallel and loop blocks, tested, published and promoted', async () => {
    const { projectId: project_id, organization, key } = mcp.tenant;
    const { flow_id } = await ask('create_flow', { project_id, name: 'Digest', slug: 'digest' });
    const add = async (name: string, processor_type: string, prompt: string, place: object = {}) =>
      (await ask('add_block', { flow_id, name, processor_type, prompt, ...place })).step_id as string;
    const split = await add('Split', 'code', 'return message;');
    await ask('update_block_draft', { flow_id, step_id: split, content: 'return message.split(",");' });
    const describe = await add('Describe', 'llm', 'Describe {{previous_output}}');
    await ask('update_block', { flow_id, step_id: describe, model: 'demo/m', loop: { max_iterations: 5 } });
    const count = await add('Count', 'code', 'return { n: input.length };');
    const join = await add('Join', 'code', 'return input.join("; ");', {
      target_id: count,
      direction: 'bottom',
    });
    const content = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    await ask('update_block_output_schema', { flow_id, step_id: count, content });
    const last = await add('Last', 'passthrough', '', { target_id: split, direction: 'right' });
    const superfluous = await add('Superfluous', 'code', 'return 1;');
    const edits = [
      { tool: 'move_block', arguments: { step_id: last } },
      { tool: 'delete_block', arguments: { step_id: superfluous } },
    ];
    const { draft_etag } = await ask('edit_draft', { flow_id, edits });
    const { steps } = await ask('get_flow', { flow_id });
    assert.equal((await ask('write_draft', { flow_id, steps, draft_etag })).draft_etag, draft_etag);

    const result = { [count]: { n: 2 }, [join]: 'a weir; a dam' };
    const expectations = [
      { type: 'equals', value: result },
      { type: 'json_schema', schema: { type: 'object', required: [count, join] } },
      { type: 'contains', text: 'a weir; a dam' },
      { type: 'judge', criteria: 'It speaks of two things.', model: 'demo/judge' },
    ];
    for (const expectation of expectations)
      await ask('create_test_case', { flow_id, name: expectation.type, message: 'weir,dam', expectation });
    const { test_cases } = await ask('get_flow', { flow_id });
    for (const { test_case_id, name } of test_cases) {
      models.will(answer('a weir'), answer('a dam'));
      if (name === 'judge') models.will(answer('{"reason": "It does.", "passed": true}'));
      const { results } = await ask('run_test_case', { test_case_id });
      assert.equal(results[0].status, 'passed', `${name}: ${results[0].why}`);
    }
    for (const { test_case_id } of test_cases.slice(1)) await ask('delete_test_case', { test_case_id });
    models.will(answer('a weir'), answer('a dam'));
    const all = await ask('run_all_tests', { flow_id });
    assert.deepEqual([all.total, all.passed], [1, 1]);
    const [{ flow_run_id }] = all.results;
    const { flow_run } = await ask('get_test_run_trace', { flow_run_id });
    assert.deepEqual(flow_run.answer, result);
    await ask('cancel_run', { flow_run_id }, false);
    const { executions } = await ask('get_step_trace', { flow_run_id, step_id: describe });
    for (const [index, thing] of ['weir', 'dam'].entries()) {
      const { sent, output, prompt_tokens, completion_tokens, ms } = executions[index];
      assert.deepEqual(sent.messages, [{ role: 'user', content: `Describe ${thing}` }]);
      assert.deepEqual([output, prompt_tokens, completion_tokens], [`a ${thing}`, 10, 5]);
      assert.ok(ms >= 0);
    }

    const { version_id } = await ask('publish_version', { flow_id, note: 'first' });
    await ask('set_production_version', { flow_id, version_id });
    await ask('restore_version', { flow_id, version_id });
    await ask('update_flow', { flow_id, description: 'Describes each part.' });
    await ask('list_models', { project_id });
    await ask('hydrate_project', { project_id });
    await ask('list_projects', {});
    models.will(answer('a weir'), answer('a dam'));
    const path = `${organization}/project/digest/execute`;
    const ran = await mcp.weir.call('POST', path, { key, body: { message: 'weir,dam' } });
    assert.deepEqual([ran.body.status, ran.body.result], ['completed', result]);
    assert.equal((await ask('list_runs', { flow_id })).runs[0].flow_run_id, ran.body.executionId);
    models.will(answer('a weir'), answer('a dam'));
    assert.deepEqual((await ask('run_flow', { flow_id, message: 'weir,dam' })).answer, result);
    models.will(respond(400, { error: { message: 'not today' } }));
    const { flow_run: failed } = await ask('run_flow', { flow_id, message: 'weir,dam' });
    assert.equal(failed.status, 'failed');
    for (const name of ['retry_run', 'rerun_run']) await ask(name, { flow_run_id: failed.flow_run_id });
    await ask('retry_runs', { flow_id });
    await ask('delete_flow', { flow_id, confirm: 'digest' });
    assert.deepEqual([...called].sort(), [...writes.keys()].sort());
  });
});
