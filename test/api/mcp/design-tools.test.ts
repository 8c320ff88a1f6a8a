// What assistants need to know of models, and the edits beyond single blocks.
import assert from 'node:assert/strict';
import { useTools } from './tools-harness.ts';

describe('MCP tools', () => {
  const { tools, call, ask, createFlow, add } = useTools({ env: { DEMO_BASE_URL: 'http://127.0.0.1:9/v1' } });
  const idsOf = (answer: { steps: { step_id: string }[] }) => answer.steps.map(({ step_id }) => step_id);

  it('list the models that work for the organization, with prices and abilities, and no server that nobody configured', async () => {
    const { models } = await ask('list_models', { project_id: tools.mcp.tenant.projectId });
    const { providers } = tools.mcp.weir.config;
    const prefixes = new Set(models.map(({ model }: { model: string }) => model.split('/')[0]));
    assert.ok(providers.ollama?.unconfigured);
    const configured = Object.values(providers).filter(({ unconfigured }) => !unconfigured);
    assert.deepEqual([...prefixes].sort(), configured.map(({ name }) => name).sort());
    const any = models.find(({ model }: { model: string }) => model === 'demo/*');
    assert.deepEqual(any, {
      model: 'demo/*',
      key: 'service',
      input_price: 100,
      output_price: 200,
      context_tokens: 128_000,
      images: false,
      tools: true,
      json_schema: true,
    });
  });

  it('note a model without a key and fields without effect at once, and name models that work', async () => {
    const flow_id = await createFlow();
    const added = await add(flow_id, 'Ask', { processor_type: 'llm', prompt: '{{message}}' });
    const { path, step_id, field, message } = added.notes[0];
    assert.deepEqual([path, step_id, field], ['steps[0].model', 'ask', 'model']);
    assert.match(message, /These work here: .*demo\/…/);
    const noted = await ask('update_block', { flow_id, step_id: 'ask', model: 'anthropic/claude-sonnet-5' });
    const why = /^The block would fail: no key is set for anthropic\/claude-sonnet-5.*demo\/…/;
    assert.match(noted.notes[0].message, why);
    const published = await ask('publish_version', { flow_id, note: '' });
    assert.match(published.notes[0].message, why);
    assert.deepEqual((await ask('get_flow', { flow_id })).notes, published.notes);
    const works = await ask('update_block', { flow_id, step_id: 'ask', model: 'demo/chat' });
    assert.deepEqual(works.notes, []);
    const vain = await add(flow_id, 'Pass', { processor_type: 'passthrough', prompt: '{{message}}' });
    assert.equal(vain.notes[0].message, 'Without effect in a passthrough block: prompt.');
  });

  it('put a block first, and before another', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'B');
    assert.deepEqual(idsOf(await add(flow_id, 'A', { direction: 'left' })), ['a', 'b']);
    const between = await add(flow_id, 'AB', { direction: 'left', target_id: 'b' });
    assert.deepEqual(idsOf(between), ['a', 'ab', 'b']);
  });

  it('name branches', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'A');
    await add(flow_id, 'B', { direction: 'bottom', target_id: 'a' });
    const rename = (branches: object) => call('update_block', { flow_id, step_id: 'parallel', branches });
    assert.match((await rename({ c: 'x' })).text, /has no branch "c"\. It has: a, b\./);
    assert.match((await rename({ a: 'b' })).text, /same name/);
    const { data } = await rename({ a: 'b', b: 'summary' });
    assert.deepEqual(
      data.steps.map(({ branch }: { branch: string }) => branch),
      [null, 'b', 'summary'],
    );
  });

  it('rename and describe a flow, and go back to a version', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'A');
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    await add(flow_id, 'B');
    assert.deepEqual(idsOf(await ask('restore_version', { flow_id, version_id })), ['a']);
    await ask('update_flow', { flow_id, name: 'New name', description: 'Why' });
    const flow = await ask('get_flow', { flow_id });
    assert.deepEqual(
      [flow.name, flow.description, flow.has_unpublished_changes, idsOf(flow)],
      ['New name', 'Why', false, ['a']],
    );
    assert.match((await call('update_flow', { flow_id })).text, /name or description/);
  });
});
