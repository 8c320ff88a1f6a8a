// write_draft replaces a draft as a whole, edit_draft by several edits: all or nothing.
import assert from 'node:assert/strict';
import schema from '../../../docs/flow-file.schema.json' with { type: 'json' };
import { useTools } from './tools-harness.ts';

describe('MCP tools', () => {
  const { tools, call, ask, createFlow, add } = useTools();
  const pass = (step_id: string) => ({ step_id, processor_type: 'passthrough' });
  const edit = (tool: string, args: object) => ({ tool, arguments: args });
  const idsOf = (answer: { steps: { step_id: string }[] }) => answer.steps.map(({ step_id }) => step_id);

  it('write a whole draft, as in a flow file, which then runs', async () => {
    const flow_id = await createFlow();
    const written = await ask('write_draft', {
      flow_id,
      steps: [
        { name: 'Split up', processor_type: 'code', prompt: 'return message.split(",");' },
        {
          type: 'loop',
          step_id: 'each',
          body: [{ step_id: 'length', processor_type: 'code', prompt: 'return input.length;' }],
        },
        {
          type: 'parallel',
          branches: {
            same: [pass('same')],
            sum: [{ step_id: 'sum', processor_type: 'code', prompt: 'return input[0] + input[1];' }],
          },
        },
      ],
    });
    assert.deepEqual(idsOf(written), ['split-up', 'each', 'length', 'parallel', 'same', 'sum']);
    assert.deepEqual([written.problems, written.notes], [[], []]);
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    await ask('set_production_version', { flow_id, version_id });
    const { answer } = await ask('run_flow', { flow_id, message: 'ab,c' });
    assert.deepEqual(answer, { same: [2, 1], sum: 3 });
  });

  it('list every field of a step of flow files with write_draft', async () => {
    const { tools: listed } = await tools.client.listTools();
    const { inputSchema } = listed.find(({ name }) => name === 'write_draft') ?? {};
    const steps = inputSchema?.properties?.steps;
    assert.ok(steps);
    const { items } = steps as unknown as { items: { properties: object } };
    const { SequentialStep, ParallelStep, LoopStep } = schema.$defs;
    const fields = [SequentialStep, ParallelStep, LoopStep].flatMap((step) => Object.keys(step.properties));
    assert.deepEqual(Object.keys(items.properties).sort(), [...new Set(fields)].sort());
  });

  it('replace a draft that has steps only with the draft_etag of what was read', async () => {
    const flow_id = await createFlow();
    const first = await ask('write_draft', { flow_id, steps: [pass('a')] });
    const refused = await call('write_draft', { flow_id, steps: [pass('b')] });
    assert.match(refused.text, /^PRECONDITION_REQUIRED: .*get_flow, and send its draft_etag/);
    const { draft_etag } = await ask('get_flow', { flow_id });
    assert.equal(draft_etag, first.draft_etag);
    await add(flow_id, 'Meanwhile');
    for (const [tool, change] of [
      ['write_draft', { steps: [pass('b')] }],
      ['edit_draft', { edits: [edit('delete_block', { step_id: 'a' })] }],
    ] as const) {
      const late = await call(tool, { flow_id, draft_etag, ...change });
      assert.match(late.text, /^PRECONDITION_FAILED: /, tool);
    }
    const now = await ask('get_flow', { flow_id });
    assert.deepEqual(idsOf(now), ['a', 'meanwhile']);
    const replaced = await ask('write_draft', { flow_id, steps: [pass('b')], draft_etag: now.draft_etag });
    assert.deepEqual(idsOf(replaced), ['b']);
  });

  it('say what is wrong in one sentence for each place', async () => {
    const flow_id = await createFlow();
    const steps = [{ ...pass('a'), outputSchema: 'x' }, { name: 'b' }];
    const { text } = await call('write_draft', { flow_id, steps });
    assert.match(
      text,
      /steps\[0\]\.outputSchema \(a\): [^.]+ boolean\. steps\[1\]\.processor_type: is required\.$/,
    );
  });

  it('apply several edits in order, each to the result of the one before', async () => {
    const flow_id = await createFlow();
    const schema = { type: 'object' };
    const edited = await ask('edit_draft', {
      flow_id,
      edits: [
        edit('add_block', { name: 'One', processor_type: 'code' }),
        edit('update_block_draft', { step_id: 'one', content: 'return { a: 1 };' }),
        edit('update_block_output_schema', { step_id: 'one', content: schema }),
        edit('add_block', {
          name: 'Two',
          processor_type: 'passthrough',
          target_id: 'one',
          direction: 'bottom',
        }),
        edit('add_block', { name: 'Three', processor_type: 'passthrough' }),
        edit('move_block', { step_id: 'three', direction: 'left' }),
        edit('update_block', { step_id: 'three', loop: { max_iterations: 2 } }),
        edit('delete_block', { step_id: 'two' }),
      ],
    });
    assert.deepEqual(edited.step_ids, ['one', 'one', 'one', 'two', 'three', 'three', 'three', 'two']);
    assert.deepEqual(idsOf(edited), ['loop', 'three', 'parallel', 'one']);
    const { steps } = await ask('get_flow', { flow_id });
    assert.deepEqual(steps[1].branches.one[0].outputSchema, schema);
  });

  it('apply none of several edits when one cannot be applied, and say which', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'A');
    const good = edit('delete_block', { step_id: 'a' });
    const cases: [object, RegExp][] = [
      [
        edit('delete_block', { step_id: 'a' }),
        /^NOT_FOUND: No edit was applied: edits\.1 \(delete_block\): .* no step "a"/,
      ],
      [
        edit('update_block', { step_id: 'a' }),
        /^VALIDATION_ERROR: No edit was applied: edits\.1 \(update_block\): Send at least one field/,
      ],
      [
        edit('add_block', { name: 'X', processor_type: 'code', colour: 1 }),
        /edits\.1 \(add_block\): colour: is not a known field; add_block takes name, /,
      ],
      [
        edit('update_block_output_schema', { step_id: 'a', content: { name: 'x', schema: {} } }),
        /edits\.1 .*give only the schema inside, at \/schema$/,
      ],
    ];
    for (const [bad, says] of cases) {
      const { isError, text } = await call('edit_draft', { flow_id, edits: [good, bad] });
      assert.ok(isError);
      assert.match(text, says);
    }
    assert.deepEqual(idsOf(await ask('get_flow', { flow_id })), ['a']);
  });
});
