// A wrong call of a tool gets an error that says how to correct it, and changes nothing.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ToolAnswer } from './mcp-harness.ts';
import { useTools } from './tools-harness.ts';

describe('MCP tools', () => {
  const { tools, call, ask, createFlow, add } = useTools({ worker: false });

  const edit = (tool: string, args: object) => [{ tool, arguments: args }];
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['add_block', { name: 'X' }, /processor_type: /],
    ['add_block', { name: 'X', processor_type: 'python' }, /processor_type: must be one of llm, /],
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
    ['update_block', { step_id: 'one', loop: true }, /loop: must be an object: \{\}, with max_iterations/],
    [
      'add_block',
      { flow_id: 7, name: 'X', processor_type: 'code' },
      /flow_id: is not a valid id; send: flow_id from/,
    ],
    [
      'add_block',
      { name: 'X', processor_type: 'code', target_id: 'nowhere' },
      /no step "nowhere".*Its steps are one/,
    ],
    ['update_block', { step_id: 'one' }, /at least one field/],
    ['update_block', { step_id: 'one', processor_type: 'llm', model: 'gpt-5' }, /begin with one of openai\//],
    ['update_block', { step_id: 'one', outputSchema: { type: 'wrong' } }, /outputSchema: .*JSON Schema/],
    ['update_block', { step_id: 'one', processor_config: { tools_enabled: true } }, /Only a model block/],
    ['update_block', { step_id: '__proto__', model: 'demo/b' }, /no step "__proto__"/],
    ['update_block_draft', { step_id: 'one', content: 7 }, /content: /],
    [
      'update_block_output_schema',
      { step_id: 'one', content: '{"type":"object"}' },
      /content: must be a JSON Schema as an object/,
    ],
    ['update_block_output_schema', { step_id: 'one', content: { $ref: 'https://x.test' } }, /content: /],
    [
      'edit_draft',
      { edits: edit('move_block', { step_id: 'one', target_id: 'one' }) },
      /next to or into itself/,
    ],
    ['edit_draft', { edits: edit('move_block', { step_id: 'one', direction: 'bottom' }) }, /needs target_id/],
    [
      'edit_draft',
      { edits: edit('delete_block', { id: 'one' }) },
      /No edit was applied: edits\.0 \(delete_block\): step_id: is required.*takes step_id$/,
    ],
    ['edit_draft', { edits: edit('run_flow', {}) }, /edits\.0\.tool: must be one of add_block, /],
    ['write_draft', { steps: [] }, /get_flow, and send its draft_etag/],
    ['write_draft', { steps: [], draft_etag: '"x"' }, /draft has changed since you read it/],
    ['write_draft', { steps: 'none' }, /steps: must be a list/],
    [
      'write_draft',
      { steps: [{ step_id: 'a', processor_type: 'code', promt: 'x' }] },
      /steps\[0\]\.promt \(a\): This field is not allowed here\. Did you mean prompt\? The fields are type, /,
    ],
    [
      'write_draft',
      { steps: [{ step_id: 'a', processor_type: 'passthrough', outputSchema: { type: 'no' } }] },
      /steps\[0\]\.outputSchema \(a\): /,
    ],
    ['write_draft', { steps: [{ type: 'loop', step_id: 'a', body: [] }] }, /steps\[0\]\.body \(a\): /],
    ['update_block', { step_id: 'one', loop: null }, /one is not a loop step/],
    ['update_block', { step_id: 'one', loop: { max_iterations: 0 } }, /loop.max_iterations: /],
    [
      'update_block',
      { step_id: 'one', branches: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`b${at}`, 1])) },
      /branches: must have at most 32 entries$/,
    ],
    ['set_production_version', { version_id: randomUUID() }, /get_flow lists its versions/],
    ['list_runs', { limit: 1_000 }, /limit: /],
    ['list_runs', { after: randomUUID() }, /after: /],
  ];
  for (const [tool, args, says] of wrong)
    it(`answer ${tool} ${JSON.stringify(args).slice(0, 60)} with an error that says what to correct`, async () => {
      const flow_id = await createFlow();
      await add(flow_id, 'One');
      const answer = await call(tool, { flow_id, ...args });
      assert.ok(answer.isError, answer.text);
      assert.match(answer.text, says);
      const flow = await ask('get_flow', { flow_id });
      assert.equal(flow.steps.length, 1);
      assert.equal(flow.steps[0].processor_type, 'passthrough');
    });

  it('say where to get an id, for every id that is malformed', async () => {
    const { tools: listed } = await tools.client.listTools();
    let ids = 0;
    for (const { name, inputSchema } of listed)
      for (const [field, property] of Object.entries(inputSchema.properties ?? {})) {
        if ((property as { format?: string }).format !== 'uuid') continue;
        ids += 1;
        const { isError, text } = await call(name, { [field]: '1' });
        assert.ok(isError, name);
        assert.match(text, new RegExp(`${field}: is not a valid id; send: .* (of|from) `), name);
      }
    assert.ok(ids > listed.length);
  });

  it('answer a foreign id exactly like an unknown one, and change nothing there', async () => {
    const other = await tools.mcp.weir.createTenant();
    await tools.mcp.join('eve', 'owner', other);
    const eve = await tools.mcp.connect(await tools.mcp.token('eve'));
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
      ['edit_draft', (id) => ({ flow_id: id, edits: edit('delete_block', { step_id: 'one' }) }), flow_id],
      ['write_draft', (id) => ({ flow_id: id, steps: [] }), flow_id],
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
    await tools.mcp.join('leaver');
    const leaver = await tools.mcp.connect(await tools.mcp.token('leaver'));
    await ask('hydrate_project', { project_id: tools.mcp.tenant.projectId }, leaver);
    await tools.mcp.weir.db.deleteFrom('membership').where('user_id', '=', 'leaver').execute();
    const answer = await call('hydrate_project', { project_id: tools.mcp.tenant.projectId }, leaver);
    assert.match(answer.text, /^NOT_FOUND/);
  });
});
