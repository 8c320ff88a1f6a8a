import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isObject } from '../../../flow/json.ts';
import { useTools } from './tools-harness.ts';

describe('MCP tools', () => {
  const { tools, call, ask, createFlow, add } = useTools();

  const NAMES = [
    'add_block',
    'cancel_run',
    'create_flow',
    'create_test_case',
    'delete_flow',
    'delete_test_case',
    'edit_draft',
    'get_flow',
    'get_step_trace',
    'get_test_run_trace',
    'hydrate_project',
    'list_models',
    'list_projects',
    'list_runs',
    'publish_version',
    'rerun_run',
    'restore_version',
    'retry_run',
    'retry_runs',
    'run_all_tests',
    'run_flow',
    'run_test_case',
    'set_production_version',
    'update_block',
    'update_block_draft',
    'update_block_output_schema',
    'update_flow',
    'write_draft',
  ];

  it('are listed with title, description, annotations and both schemas', async () => {
    const { tools: listed } = await tools.client.listTools();
    assert.deepEqual(listed.map(({ name }) => name).sort(), NAMES);
    for (const tool of listed) {
      assert.ok(tool.title && tool.description, tool.name);
      assert.equal(typeof tool.annotations?.readOnlyHint, 'boolean', tool.name);
      assert.equal(tool.inputSchema.type, 'object');
      assert.equal(tool.inputSchema.additionalProperties, false);
      assert.equal(tool.outputSchema?.type, 'object');
      // Not every client follows references in what a tool takes.
      assert.doesNotMatch(JSON.stringify(tool.inputSchema), /\$ref/, tool.name);
    }
  });

  it('take schemas that Gemini and OpenAI accept: each value has one type, and no alternatives', async () => {
    const check = (schema: unknown, place: string): void => {
      assert.ok(isObject(schema), place);
      assert.equal(typeof schema.type, 'string', place);
      for (const keyword of ['oneOf', 'anyOf', 'allOf', 'not', 'const', '$ref'])
        assert.ok(!Object.hasOwn(schema, keyword), `${place} has ${keyword}`);
      for (const [name, child] of Object.entries(schema.properties ?? {})) check(child, `${place}.${name}`);
      if (schema.items !== undefined) check(schema.items, `${place}[]`);
    };
    for (const { name, inputSchema, outputSchema } of (await tools.client.listTools()).tools) {
      check(inputSchema, name);
      check(outputSchema, `${name} output`);
    }
  });

  it('take numbers of versions as text too, since a listed field has one type', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'Same');
    await ask('publish_version', { flow_id, note: 'first' });
    const expectation = { type: 'equals', value: 'm' };
    await ask('create_test_case', { flow_id, name: 'Same', message: 'm', expectation });
    for (const version of [1, '1', 'draft'])
      assert.equal((await ask('run_all_tests', { flow_id, version })).passed, 1);
    for (const on_version of [1, '1', 'original'])
      assert.deepEqual((await ask('retry_runs', { flow_id, on_version })).retried, []);
  });

  it('say which version they run when none is named', async () => {
    for (const { name, inputSchema } of (await tools.client.listTools()).tools)
      for (const field of ['version', 'on_version']) {
        const { default: value, description } = (inputSchema.properties?.[field] ?? {}) as Record<
          string,
          string
        >;
        if (description) assert.ok(value || /default|when absent/.test(description), `${name}.${field}`);
      }
  });

  it('are listed in less than 28 KB', async () => {
    const listed = await tools.client.listTools();
    const bytes = Buffer.byteLength(JSON.stringify(listed));
    assert.ok(bytes < 28_000, `${bytes} bytes`);
  });

  it('design, publish and promote a flow that then runs over HTTP; drafts and unpromoted versions do not', async () => {
    const { projectId, organization, key } = tools.mcp.tenant;
    const slug = `shout-${randomUUID()}`;
    const { flow_id } = await ask('create_flow', { project_id: projectId, name: 'Shout', slug });
    await ask('add_block', { flow_id, name: 'Start', processor_type: 'passthrough' });
    const { step_id } = await ask('add_block', {
      flow_id,
      name: 'Upper case',
      processor_type: 'code',
      prompt: 'return input;',
    });
    assert.equal(step_id, 'upper-case');
    await ask('add_block', {
      flow_id,
      name: 'Length',
      processor_type: 'code',
      prompt: 'return { length: input.length };',
      target_id: step_id,
      direction: 'bottom',
    });
    await ask('update_block_draft', { flow_id, step_id, content: 'return { text: input.toUpperCase() };' });
    const content = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    await ask('update_block_output_schema', { flow_id, step_id, content });

    const path = `${organization}/project/${slug}`;
    const execute = () => tools.mcp.weir.call('POST', `${path}/execute`, { key, body: { message: 'weir' } });
    assert.equal((await execute()).status, 404);
    const first = await ask('publish_version', { flow_id, note: 'first' });
    assert.equal(first.version, 1);
    assert.equal((await execute()).status, 404);
    await ask('set_production_version', { flow_id, version_id: first.version_id });
    const expected = { 'upper-case': { text: 'WEIR' }, length: { length: 4 } };
    assert.deepEqual((await execute()).body.result, expected);

    const edits = [{ tool: 'delete_block', arguments: { step_id: 'length' } }];
    await ask('edit_draft', { flow_id, edits });
    assert.deepEqual((await execute()).body.result, expected);
    const second = await ask('publish_version', { flow_id, note: 'second' });
    assert.deepEqual((await execute()).body.result, expected);
    const promoted = await ask('set_production_version', { flow_id, version_id: second.version_id });
    assert.deepEqual([promoted.version, promoted.previous_version], [2, 1]);
    assert.deepEqual((await execute()).body.result, { 'upper-case': { text: 'WEIR' } });

    const flow = await ask('get_flow', { flow_id });
    assert.deepEqual(
      [flow.production_version_id, flow.latest_version, flow.has_unpublished_changes],
      [second.version_id, 2, false],
    );
    assert.deepEqual(
      flow.versions.map(({ note }: { note: string }) => note),
      ['second', 'first'],
    );
    assert.equal(flow.execute_url, `${tools.mcp.weir.url}/api/v1/seq/${path}/execute`);
    const runs = await ask('list_runs', { flow_id, limit: 2 });
    assert.deepEqual([runs.runs.length, runs.next], [2, runs.runs[1].flow_run_id]);
    const rest = await ask('list_runs', { flow_id, limit: 2, after: runs.next });
    assert.deepEqual([rest.runs.length, rest.next], [2, null]);
  });

  it('answer all of a project at once, with long texts cut', async () => {
    const tenant = await tools.mcp.weir.createTenant();
    await tools.mcp.join('ada', 'member', tenant);
    const flow_id = await createFlow(tenant);
    await add(flow_id, 'Long', { processor_type: 'code', prompt: 'x'.repeat(5_000) });
    const project = await ask('hydrate_project', { project_id: tenant.projectId });
    const [flow] = project.flows;
    assert.deepEqual([flow.flow_id, flow.has_unpublished_changes, project.next], [flow_id, true, null]);
    assert.ok(flow.steps[0].prompt.length < 1_100);
    assert.equal((await ask('get_flow', { flow_id })).steps[0].prompt.length, 5_000);
  });

  it('say what a draft lacks, and refuse to publish it until it is complete', async () => {
    const flow_id = await createFlow();
    const added = await add(flow_id, 'Ask', { processor_type: 'llm' });
    assert.deepEqual(
      added.problems.map(({ path }: { path: string }) => path),
      ['steps[0].model', 'steps[0].prompt'],
    );
    const refused = await call('publish_version', { flow_id, note: '' });
    assert.ok(refused.isError);
    assert.match(refused.text, /steps\[0\]\.model \(ask\): .*provider\/model/);
    await ask('update_block', { flow_id, step_id: 'ask', model: 'demo/echo' });
    const ready = await ask('update_block_draft', { flow_id, step_id: 'ask', content: '{{message}}' });
    assert.deepEqual(ready.problems, []);
    await ask('publish_version', { flow_id, note: '' });
  });

  it('leave an entry in the audit log for each write that happened', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'One');
    await call('update_block', { flow_id, step_id: 'none', name: 'X' });
    const { version_id } = await ask('publish_version', { flow_id, note: 'n' });
    await ask('set_production_version', { flow_id, version_id });
    const entries = await tools.mcp.weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'action', 'details', 'organization_id'])
      .where('resource_id', '=', flow_id)
      .orderBy('id')
      .execute();
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['flow.create', 'flow.edit', 'flow.publish', 'flow.set_production'],
    );
    assert.deepEqual(entries[1]?.details, { tool: 'add_block', step_id: 'one' });
    for (const entry of entries)
      assert.deepEqual([entry.actor, entry.organization_id], ['ada', tools.mcp.tenant.organizationId]);
  });
});
