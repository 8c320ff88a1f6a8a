import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { listAuditEntries } from '../../../db/tenants/audit-entries.ts';
import { waitUntil } from '../../wait-until.ts';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

describe('MCP test tools', () => {
  let mcp: McpWeir;
  let client: Client;
  before(async () => {
    mcp = await startMcpWeir();
    await mcp.join('ada');
    client = await mcp.connect(await mcp.token('ada'));
  });
  after(() => mcp.stop());

  const ask = async (name: string, args: Record<string, unknown>) => {
    const answer = await mcp.callTool(client, name, args);
    assert.equal(answer.isError, false, answer.text);
    return answer.data;
  };
  const createFlow = async (prompt: string) => {
    const { projectId } = mcp.tenant;
    const { flow_id } = await ask('create_flow', {
      project_id: projectId,
      name: 'Flow',
      slug: `f-${randomUUID()}`,
    });
    await ask('add_block', { flow_id, name: 'shout', processor_type: 'code', prompt });
    return flow_id as string;
  };

  it('find a fault in the draft, trace it, and find it corrected, before anything is published', async () => {
    const flow_id = await createFlow('return { text: message };');
    const expectation = { type: 'equals', value: { text: 'WEIR' } };
    const { test_case_id, created } = await ask('create_test_case', {
      flow_id,
      name: 'upper case',
      message: 'weir',
      expectation,
    });
    assert.equal(created, true);
    await ask('create_test_case', {
      flow_id,
      name: 'shape',
      message: 'any',
      expectation: { type: 'json_schema', schema: { required: ['text'] } },
    });
    const failed = await ask('run_test_case', { test_case_id });
    const [result] = failed.results;
    assert.deepEqual([failed.failed, result.status, result.answer], [1, 'failed', { text: 'weir' }]);
    assert.equal(result.why, 'At /text the answer is "weir"; expected "WEIR".');
    const { flow_run } = await ask('get_test_run_trace', { flow_run_id: result.flow_run_id });
    assert.equal(flow_run.test.why, result.why);
    const { executions } = await ask('get_step_trace', {
      flow_run_id: result.flow_run_id,
      step_id: 'shout',
    });
    assert.deepEqual(
      [executions[0].input, executions[0].sent, executions[0].output],
      ['weir', 'return { text: message };', { text: 'weir' }],
    );

    const content = 'return { text: message.toUpperCase() };';
    await ask('update_block_draft', { flow_id, step_id: 'shout', content });
    const all = await ask('run_all_tests', { flow_id });
    assert.deepEqual([all.status, all.total, all.passed], ['completed', 2, 2]);
    const { test_run } = await ask('get_test_run_trace', { flow_run_id: all.test_run_id });
    assert.deepEqual(test_run, all);

    const flow = await ask('get_flow', { flow_id });
    assert.deepEqual([flow.versions, flow.latest_version], [[], null]);
    assert.deepEqual(flow.test_cases[0], {
      test_case_id,
      name: 'upper case',
      message: 'weir',
      parameters: {},
      expectation,
    });
    await ask('delete_test_case', { test_case_id });
    assert.equal((await ask('get_flow', { flow_id })).test_cases.length, 1);

    const entries = await listAuditEntries(mcp.weir.db, mcp.tenant.organizationId, { limit: 50 });
    const ids = [test_case_id, failed.test_run_id, all.test_run_id];
    assert.deepEqual(
      entries
        .filter(({ resource_id }) => ids.includes(resource_id))
        .map(({ action, actor, details }) => [action, actor, details]),
      [
        ['test_case.delete', 'ada', { flow_id, name: 'upper case' }],
        ['test_run.start', 'ada', { flow_id }],
        ['test_run.start', 'ada', { flow_id }],
        ['test_case.create', 'ada', { flow_id, name: 'upper case' }],
      ],
    );
  });

  it('do not take a snapshot of a draft for a version', async () => {
    const flow_id = await createFlow('return 1;');
    await ask('create_test_case', {
      flow_id,
      name: 'n',
      message: '',
      expectation: { type: 'equals', value: 1 },
    });
    await ask('run_all_tests', { flow_id });
    const { flow_version_id: version_id } = await mcp.weir.db
      .selectFrom('run')
      .select('flow_version_id')
      .where('flow_id', '=', flow_id)
      .executeTakeFirstOrThrow();
    for (const name of ['set_production_version', 'get_flow']) {
      const answer = await mcp.callTool(client, name, { flow_id, version_id });
      assert.match(answer.text, /^NOT_FOUND/, name);
    }
  });

  it('say how to correct a call', async () => {
    const flow_id = await createFlow('return 1;');
    const testCase = { flow_id, name: 'n', message: '' };
    const table: [string, Record<string, unknown>, RegExp][] = [
      ['create_test_case', testCase, /expectation: is required/],
      [
        'create_test_case',
        { ...testCase, expectation: { type: 'other' } },
        /expectation(\.type)?: must have a type: equals, json_schema/,
      ],
      [
        'create_test_case',
        { ...testCase, expectation: 'x' },
        /expectation: must be an object with a type, such as/,
      ],
      ['create_test_case', { ...testCase, expectation: { type: 'equals' } }, /expectation\.value/],
      [
        'create_test_case',
        { ...testCase, expectation: { type: 'json_schema', schema: '{}' } },
        /expectation\.schema: must be a JSON Schema as an object/,
      ],
      [
        'create_test_case',
        { ...testCase, expectation: { type: 'judge', criteria: 'c' } },
        /expectation\.model: is required/,
      ],
      ['run_all_tests', { flow_id }, /create_test_case/],
      ['run_test_case', { test_case_id: 'x' }, /test_case_id/],
    ];
    for (const [name, args, expected] of table) {
      const answer = await mcp.callTool(client, name, args);
      assert.equal(answer.isError, true, name);
      assert.match(answer.text, expected);
    }
  });

  it('answer the same to ids of others and ids that do not exist', async () => {
    const flow_id = await createFlow('return 1;');
    const expectation = { type: 'equals', value: 1 };
    const { test_case_id } = await ask('create_test_case', { flow_id, name: 'n', message: '', expectation });
    const { test_run_id, results } = await ask('run_test_case', { test_case_id });
    const eve = await mcp.connect(await mcp.token('eve'));
    const nothing = randomUUID();
    const create = { name: 'n', message: '', expectation };
    const table: [string, (id: string) => Record<string, unknown>, string][] = [
      ['create_test_case', (id) => ({ ...create, flow_id: id }), flow_id],
      ['delete_test_case', (id) => ({ test_case_id: id }), test_case_id],
      ['run_test_case', (id) => ({ test_case_id: id }), test_case_id],
      ['run_all_tests', (id) => ({ flow_id: id }), flow_id],
      ['get_test_run_trace', (id) => ({ flow_run_id: id }), test_run_id],
      ['cancel_run', (id) => ({ flow_run_id: id }), test_run_id],
      ['cancel_run', (id) => ({ flow_run_id: id }), results[0].flow_run_id],
      ['get_test_run_trace', (id) => ({ flow_run_id: id }), results[0].flow_run_id],
      ['get_step_trace', (id) => ({ flow_run_id: id, step_id: 'shout' }), results[0].flow_run_id],
    ];
    for (const [name, args, id] of table) {
      const foreign = await mcp.callTool(eve, name, args(id));
      const unknown = await mcp.callTool(eve, name, args(nothing));
      assert.deepEqual([foreign.isError, foreign.text], [true, unknown.text], name);
    }
  });

  it('cancel the run of a case, or all of a test run, of a flow that was never published', async () => {
    const flow_id = await createFlow('for (;;);');
    await ask('update_block', { flow_id, step_id: 'shout', processor_config: { timeout_ms: 30_000 } });
    const expectation = { type: 'equals', value: 1 };
    const { test_case_id } = await ask('create_test_case', { flow_id, name: 'n', message: '', expectation });
    const start = async () => {
      const running = ask('run_test_case', { test_case_id });
      running.catch(() => undefined);
      const run = await waitUntil<{ flow_run_id: string }>(async () => {
        const { runs } = await ask('list_runs', { flow_id, status: 'started' });
        return runs[0];
      });
      return { running, flow_run_id: run.flow_run_id };
    };
    const one = await start();
    const { flow_run } = await ask('cancel_run', { flow_run_id: one.flow_run_id });
    assert.equal(flow_run.flow_run_id, one.flow_run_id);
    const ended = await one.running;
    assert.deepEqual([ended.status, ended.results[0].status], ['completed', 'error']);
    assert.match(ended.results[0].why, /cancelled/);
    const again = await ask('cancel_run', { flow_run_id: one.flow_run_id });
    assert.equal(again.flow_run.status, 'failed');

    const all = await start();
    const { flow_run: traced } = await ask('get_test_run_trace', { flow_run_id: all.flow_run_id });
    const { test_run_id } = traced.test;
    assert.equal((await ask('cancel_run', { flow_run_id: test_run_id })).test_run.test_run_id, test_run_id);
    assert.equal((await all.running).status, 'cancelled');
    const entries = await listAuditEntries(mcp.weir.db, mcp.tenant.organizationId, { limit: 50 });
    assert.deepEqual(
      entries.flatMap(({ action, resource_id }) =>
        action.endsWith('cancel') ? [[action, resource_id]] : [],
      ),
      [
        ['test_run.cancel', test_run_id],
        ['run.cancel', one.flow_run_id],
      ],
    );
  });

  it('need the scopes flows:write, flows:run and flows:read', async () => {
    const reader = await mcp.connect(await mcp.token('ada', { scope: 'flows:read' }));
    const table: [string, Record<string, unknown>][] = [
      ['create_test_case', {}],
      ['delete_test_case', { test_case_id: randomUUID() }],
      ['run_test_case', { test_case_id: randomUUID() }],
      ['run_all_tests', { flow_id: randomUUID() }],
      ['cancel_run', { flow_run_id: randomUUID() }],
    ];
    for (const [name, args] of table)
      await assert.rejects(mcp.callTool(reader, name, args), /scope|403|Forbidden/i, name);
    const answer = await mcp.callTool(reader, 'get_test_run_trace', { flow_run_id: randomUUID() });
    assert.match(answer.text, /^NOT_FOUND/);
  });
});
