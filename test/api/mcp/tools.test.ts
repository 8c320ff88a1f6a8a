import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { isWaiting } from '../../db/during-transaction.ts';
import type { Tenant } from '../../harness.ts';
import { type McpWeir, startMcpWeir, type ToolAnswer } from './mcp-harness.ts';

describe('MCP tools', () => {
  let mcp: McpWeir;
  let client: Client;
  before(async () => {
    mcp = await startMcpWeir();
    await mcp.join('ada');
    client = await mcp.connect(await mcp.token('ada'));
  });
  after(() => mcp.stop());

  const call = (name: string, args: Record<string, unknown>, by = client) => mcp.callTool(by, name, args);
  /** The answer of a call that works. */
  const ask = async (name: string, args: Record<string, unknown>, by = client) => {
    const answer = await call(name, args, by);
    assert.equal(answer.isError, false, answer.text);
    return answer.data;
  };
  const createFlow = async (tenant: Tenant = mcp.tenant, by = client) =>
    (await ask('create_flow', { project_id: tenant.projectId, name: 'Flow', slug: `f-${randomUUID()}` }, by))
      .flow_id as string;
  const add = (flow_id: string, name: string, more: Record<string, unknown> = {}) =>
    ask('add_block', { flow_id, name, processor_type: 'passthrough', ...more });
  // biome-ignore lint/suspicious/noExplicitAny: whatever the answer holds
  const shape = (edited: any) =>
    edited.steps.map((step: { step_id: string; inside: string | null; branch: string | null }) =>
      step.inside === null ? step.step_id : `${step.inside}.${step.branch}.${step.step_id}`,
    );

  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  const NAMES = [
    'add_block',
    'create_flow',
    'create_test_case',
    'delete_block',
    'delete_test_case',
    'get_flow',
    'get_step_trace',
    'get_test_run_trace',
    'hydrate_project',
    'list_projects',
    'list_runs',
    'move_block',
    'publish_version',
    'run_all_tests',
    'run_test_case',
    'set_production_version',
    'update_block',
    'update_block_draft',
    'update_block_output_schema',
  ];

  it('are listed with title, description, annotations and both schemas', async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), NAMES);
    for (const tool of tools) {
      assert.ok(tool.title && tool.description, tool.name);
      assert.equal(typeof tool.annotations?.readOnlyHint, 'boolean', tool.name);
      assert.equal(tool.inputSchema.type, 'object');
      assert.equal(tool.inputSchema.additionalProperties, false);
      assert.equal(tool.outputSchema?.type, 'object');
      // Not every client follows references in what a tool takes.
      assert.doesNotMatch(JSON.stringify(tool.inputSchema), /\$ref/, tool.name);
    }
  });

  it('design, publish and promote a flow that then runs over HTTP; drafts and unpromoted versions do not', async () => {
    const { projectId, organization, key } = mcp.tenant;
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
    const execute = () => mcp.weir.call('POST', `${path}/execute`, { key, body: { message: 'weir' } });
    assert.equal((await execute()).status, 404);
    const first = await ask('publish_version', { flow_id, note: 'first' });
    assert.equal(first.version, 1);
    assert.equal((await execute()).status, 404);
    await ask('set_production_version', { flow_id, version_id: first.version_id });
    const expected = { 'upper-case': { text: 'WEIR' }, length: { length: 4 } };
    assert.deepEqual((await execute()).body.result, expected);

    await ask('delete_block', { flow_id, step_id: 'length' });
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
    assert.equal(flow.execute_url, `${mcp.weir.url}/api/v1/seq/${path}/execute`);
    const runs = await ask('list_runs', { flow_id, limit: 2 });
    assert.deepEqual([runs.runs.length, runs.hasMore], [2, true]);
    const rest = await ask('list_runs', { flow_id, limit: 2, cursor: runs.nextCursor });
    assert.equal(rest.runs.length, 2);
    assert.equal(rest.hasMore, false);
  });

  it('tell all of a project in one answer, long texts cut', async () => {
    const tenant = await mcp.weir.createTenant();
    await mcp.join('ada', 'member', tenant);
    const flow_id = await createFlow(tenant);
    await add(flow_id, 'Long', { processor_type: 'code', prompt: 'x'.repeat(5_000) });
    const project = await ask('hydrate_project', { project_id: tenant.projectId });
    const [flow] = project.flows;
    assert.deepEqual([flow.flow_id, flow.has_unpublished_changes, project.next], [flow_id, true, null]);
    assert.ok(flow.steps[0].prompt.length < 1_100);
    assert.equal((await ask('get_flow', { flow_id })).steps[0].prompt.length, 5_000);
  });

  it('put a block after its target, at the end, or parallel to its target', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'A');
    await add(flow_id, 'C');
    assert.deepEqual(shape(await add(flow_id, 'B', { target_id: 'a', direction: 'right' })), ['a', 'b', 'c']);
    const wrapped = await add(flow_id, 'D', { target_id: 'b', direction: 'bottom' });
    assert.deepEqual(shape(wrapped), ['a', 'parallel', 'parallel.b.b', 'parallel.d.d', 'c']);
    assert.equal(wrapped.step_id, 'd');
    const third = await add(flow_id, 'E', { target_id: 'd', direction: 'bottom' });
    assert.ok(shape(third).includes('parallel.e.e'));
    const inside = await add(flow_id, 'F', { target_id: 'd', direction: 'right' });
    assert.ok(shape(inside).includes('parallel.d.f'));
    assert.equal((await add(flow_id, 'A')).step_id, 'a-2');
    const refused = await call('add_block', {
      flow_id,
      name: 'X',
      processor_type: 'passthrough',
      direction: 'bottom',
    });
    assert.match(refused.text, /target_id/);
  });

  it('say what a draft still lacks, and refuse to publish it until that is there', async () => {
    const flow_id = await createFlow();
    const added = await add(flow_id, 'Ask', { processor_type: 'llm' });
    assert.deepEqual(
      added.problems.map(({ path }: { path: string }) => path),
      ['steps[0].model', 'steps[0].prompt'],
    );
    const refused = await call('publish_version', { flow_id, note: '' });
    assert.ok(refused.isError);
    assert.match(refused.text, /steps\[0\]\.model: .*openai\/gpt-5-mini/);
    await ask('update_block', { flow_id, step_id: 'ask', model: 'demo/echo' });
    const ready = await ask('update_block_draft', { flow_id, step_id: 'ask', content: '{{message}}' });
    assert.deepEqual(ready.problems, []);
    await ask('publish_version', { flow_id, note: '' });
  });

  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['add_block', { name: 'X' }, /processor_type: /],
    ['add_block', { name: 'X', processor_type: 'python' }, /processor_type: .*"llm"/],
    ['add_block', { name: '', processor_type: 'code' }, /name: /],
    [
      'add_block',
      { name: 'X', processor_type: 'code', prompt: 'y'.repeat(300_000) },
      /prompt: .*262144 bytes/,
    ],
    ['add_block', { name: 'X', processor_type: 'code', colour: 'red' }, /colour: is not a known field/],
    [
      'add_block',
      { name: 'X', processor_type: 'code', model: 'demo/x' },
      /model: is not a known field; add_block takes flow_id, name, processor_type, prompt, target_id, direction$/,
    ],
    [
      'update_block',
      { step_id: 'one', processor_config: { max_token: 5 } },
      /processor_config takes tools_enabled, .*max_tokens/,
    ],
    ['update_block', { step_id: 'one', loop: true }, /loop: is an object: \{\}, or with max_iterations/],
    ['add_block', { flow_id: 7, name: 'X', processor_type: 'code' }, /flow_id: is no id; send: flow_id of/],
    [
      'add_block',
      { name: 'X', processor_type: 'code', target_id: 'nowhere' },
      /no step "nowhere".*Its steps are one/,
    ],
    ['update_block', { step_id: 'one' }, /at least one field/],
    ['update_block', { step_id: 'one', processor_type: 'llm', model: 'gpt-5' }, /begin with one of openai\//],
    ['update_block', { step_id: 'one', outputSchema: { type: 'wrong' } }, /outputSchema: .*JSON Schema/],
    ['update_block', { step_id: 'one', processor_config: { tools_enabled: true } }, /Only an llm block/],
    ['update_block', { step_id: '__proto__', model: 'demo/b' }, /no step "__proto__"/],
    ['update_block_draft', { step_id: 'one', content: 7 }, /content: /],
    [
      'update_block_output_schema',
      { step_id: 'one', content: '{"type":"object"}' },
      /content: is a JSON Schema as an object/,
    ],
    ['update_block_output_schema', { step_id: 'one', content: { $ref: 'https://x.test' } }, /content: /],
    ['move_block', { step_id: 'one', target_id: 'one' }, /next to or into itself/],
    ['move_block', { step_id: 'one', direction: 'bottom' }, /needs the target_id/],
    ['update_block', { step_id: 'one', loop: null }, /one is not a loop step/],
    ['update_block', { step_id: 'one', loop: { max_iterations: 0 } }, /loop.max_iterations: /],
    ['set_production_version', { version_id: randomUUID() }, /get_flow lists them/],
    ['list_runs', { limit: 1_000 }, /limit: /],
    ['list_runs', { cursor: randomUUID() }, /cursor: /],
  ];
  for (const [tool, args, says] of wrong)
    it(`answer ${tool} ${JSON.stringify(args).slice(0, 60)} with an error that says what to mend`, async () => {
      const flow_id = await createFlow();
      await add(flow_id, 'One');
      const answer = await call(tool, { flow_id, ...args });
      assert.ok(answer.isError, answer.text);
      assert.match(answer.text, says);
      const flow = await ask('get_flow', { flow_id });
      assert.equal(flow.steps.length, 1);
      assert.equal(flow.steps[0].processor_type, 'passthrough');
    });

  it('say of a draft which variables of its prompts are none, and no more once they are right', async () => {
    const flow_id = await createFlow();
    const prompt = '{{ message }} {{parameters.to}} {{language}} {{previous_output}} {{language}} {"a": {}}';
    const added = await ask('add_block', { flow_id, name: 'Ask', processor_type: 'llm', prompt });
    assert.equal(added.notes.length, 1);
    assert.match(added.notes[0], /prompt of ask sends \{\{language\}\} as it stands: .*parameters\.<key>/);
    const content = prompt.replaceAll('{{language}}', '{{parameters.language}}');
    const mended = await ask('update_block_draft', { flow_id, step_id: 'ask', content });
    assert.deepEqual(mended.notes, []);
  });

  it('say of every id that is none where there is one', async () => {
    const { tools } = await client.listTools();
    let ids = 0;
    for (const { name, inputSchema } of tools)
      for (const [field, property] of Object.entries(inputSchema.properties ?? {})) {
        if ((property as { format?: string }).format !== 'uuid') continue;
        ids += 1;
        const { isError, text } = await call(name, { [field]: '1' });
        assert.ok(isError, name);
        assert.match(text, new RegExp(`${field}: is no id; send: .* of `), name);
      }
    assert.ok(ids > tools.length);
  });

  it('take fields away that are null, and keep the others', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'One', { prompt: 'kept' });
    await ask('update_block', { flow_id, step_id: 'one', model: 'demo/b', inputSchema: { type: 'string' } });
    await ask('update_block', { flow_id, step_id: 'one', model: null, name: 'First' });
    const { steps } = await ask('get_flow', { flow_id });
    assert.deepEqual(steps[0], {
      type: 'sequential',
      step_id: 'one',
      name: 'First',
      processor_type: 'passthrough',
      prompt: 'kept',
      inputSchema: { type: 'string' },
    });
  });

  it('make loops of blocks, which run', async () => {
    const { projectId, organization, key } = mcp.tenant;
    const slug = `loop-${randomUUID()}`;
    const { flow_id } = await ask('create_flow', { project_id: projectId, name: 'Loop', slug });
    await add(flow_id, 'Split', { processor_type: 'code', prompt: 'return input.split(" ");' });
    const { step_id } = await add(flow_id, 'Count', {
      processor_type: 'code',
      prompt: 'return input.length;',
    });
    const edited = await ask('update_block', { flow_id, step_id, loop: {} });
    assert.deepEqual(shape(edited), ['split', 'loop', 'loop.null.count']);
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    await ask('set_production_version', { flow_id, version_id });
    const path = `${organization}/project/${slug}/execute`;
    const { body } = await mcp.weir.call('POST', path, { key, body: { message: 'a weir is' } });
    assert.deepEqual(body.result, [1, 4, 2]);
  });

  it('finish an edit whose caller has gone', async () => {
    const flow_id = await createFlow();
    const { db } = mcp.weir;
    const caller = new AbortController();
    await db.transaction().execute(async (tx) => {
      await tx.selectFrom('flow').select('id').where('id', '=', flow_id).forNoKeyUpdate().execute();
      const args = { flow_id, name: 'One', processor_type: 'passthrough' };
      const call = client.callTool({ name: 'add_block', arguments: args }, { signal: caller.signal });
      await until(() => isWaiting(db));
      caller.abort();
      await assert.rejects(call);
    });
    await until(async () => (await ask('get_flow', { flow_id })).steps.length === 1);
  });

  it('lose no edit when several come at once', async () => {
    const flow_id = await createFlow();
    const names = Array.from({ length: 12 }, (_, index) => `Block ${index}`);
    await Promise.all(names.map((name) => add(flow_id, name)));
    const { steps } = await ask('get_flow', { flow_id });
    assert.deepEqual(steps.map(({ name }: { name: string }) => name).sort(), names.sort());
  });

  it('answer a foreign id exactly like an unknown one, and change nothing there', async () => {
    const other = await mcp.weir.createTenant();
    await mcp.join('eve', 'owner', other);
    const eve = await mcp.connect(await mcp.token('eve'));
    const flow_id = await createFlow(other, eve);
    await ask('add_block', { flow_id, name: 'One', processor_type: 'passthrough' }, eve);
    const { version_id } = await ask('publish_version', { flow_id, note: '' }, eve);
    const own = await createFlow();
    const before = await ask('get_flow', { flow_id }, eve);
    const calls: [string, (id: string) => Record<string, unknown>, string][] = [
      ['hydrate_project', (id) => ({ project_id: id }), other.projectId],
      ['create_flow', (id) => ({ project_id: id, name: 'X', slug: 'x' }), other.projectId],
      ['get_flow', (id) => ({ flow_id: id }), flow_id],
      ['get_flow', (id) => ({ flow_id: own, version_id: id }), version_id],
      ['add_block', (id) => ({ flow_id: id, name: 'X', processor_type: 'code' }), flow_id],
      ['update_block', (id) => ({ flow_id: id, step_id: 'one', name: 'X' }), flow_id],
      ['update_block_draft', (id) => ({ flow_id: id, step_id: 'one', content: 'X' }), flow_id],
      ['update_block_output_schema', (id) => ({ flow_id: id, step_id: 'one', content: {} }), flow_id],
      ['move_block', (id) => ({ flow_id: id, step_id: 'one' }), flow_id],
      ['delete_block', (id) => ({ flow_id: id, step_id: 'one' }), flow_id],
      ['publish_version', (id) => ({ flow_id: id, note: '' }), flow_id],
      ['set_production_version', (id) => ({ flow_id: id, version_id }), flow_id],
      ['set_production_version', (id) => ({ flow_id: own, version_id: id }), version_id],
      ['list_runs', (id) => ({ flow_id: id }), flow_id],
    ];
    for (const [tool, args, foreign] of calls) {
      const unknown = randomUUID();
      const answers = [await call(tool, args(foreign)), await call(tool, args(unknown))];
      const [first, second] = answers as [ToolAnswer, ToolAnswer];
      assert.ok(first.isError && second.isError, tool);
      assert.equal(first.text.replaceAll(foreign, ''), second.text.replaceAll(unknown, ''), tool);
      assert.match(first.text, /^NOT_FOUND/, tool);
    }
    assert.deepEqual(await ask('get_flow', { flow_id }, eve), before);
    const { projects } = await ask('list_projects', {});
    assert.ok(!projects.some(({ project_id }: { project_id: string }) => project_id === other.projectId));
  });

  it('stop seeing an organization the moment the membership ends', async () => {
    await mcp.join('leaver');
    const leaver = await mcp.connect(await mcp.token('leaver'));
    await ask('hydrate_project', { project_id: mcp.tenant.projectId }, leaver);
    await mcp.weir.db.deleteFrom('membership').where('user_id', '=', 'leaver').execute();
    const answer = await call('hydrate_project', { project_id: mcp.tenant.projectId }, leaver);
    assert.match(answer.text, /^NOT_FOUND/);
  });

  it('leave an entry in the audit log for each write that happened', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'One');
    await call('update_block', { flow_id, step_id: 'none', name: 'X' });
    const { version_id } = await ask('publish_version', { flow_id, note: 'n' });
    await ask('set_production_version', { flow_id, version_id });
    const entries = await mcp.weir.db
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
      assert.deepEqual([entry.actor, entry.organization_id], ['ada', mcp.tenant.organizationId]);
  });
});
