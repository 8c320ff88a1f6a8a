// The tools that edit a draft: blocks are put, changed and taken away.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { mock } from 'node:test';
import { RetryLater } from '../../../api/http/request-errors.ts';
import { passthrough } from '../../blocks.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

describe('MCP tools', () => {
  const { tools, call, ask, createFlow, add } = useTools();
  type Outlined = { step_id: string; inside: string | null; branch: string | null };
  const shape = ({ steps }: { steps: Outlined[] }) =>
    steps.map(({ step_id, inside, branch }) =>
      inside === null ? step_id : `${inside}.${branch}.${step_id}`,
    );

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

  it('name unknown variables and code that does not parse, which cannot be published', async () => {
    const flow_id = await createFlow();
    const prompt = '{{ message }} {{parameters.to}} {{language}} {{previous_output}} {{language}} {"a": {}}';
    await add(flow_id, 'Ask', { processor_type: 'llm', prompt });
    await ask('update_block', { flow_id, step_id: 'ask', model: 'demo/echo' });
    const added = await add(flow_id, 'Code', { processor_type: 'code', prompt: 'const a = 1;\nreturn a +;' });
    const paths = added.problems.map(({ path }: { path: string }) => path);
    assert.deepEqual(paths, ['steps[0].prompt', 'steps[1].prompt']);
    const refused = await call('publish_version', { flow_id, note: '' });
    assert.match(
      refused.text,
      /steps\[0\]\.prompt \(ask\): There is no variable \{\{language\}\}: .*parameters\.<key>/,
    );
    assert.match(refused.text, /steps\[1\]\.prompt \(code\): SyntaxError: .*\(line 2 of the code\)/);
    const content = prompt.replaceAll('{{language}}', '{{parameters.language}}');
    await ask('update_block_draft', { flow_id, step_id: 'ask', content });
    const mended = await ask('update_block_draft', { flow_id, step_id: 'code', content: 'return 1;' });
    assert.deepEqual(mended.problems, []);
    await ask('publish_version', { flow_id, note: '' });
  });

  it('do not publish a draft whose JSON Schemas need too many steps, however they came into it', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'One');
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const levels = Array.from({ length: 59 }, (_, level) => [`d${level}`, twice(`d${level + 1}`)]);
    const inputSchema = { ...twice('d0'), $defs: { ...Object.fromEntries(levels), d59: {} } };
    const refused = await call('update_block', { flow_id, step_id: 'one', inputSchema });
    assert.match(refused.text, /inputSchema: .*more than 100000 steps/);
    const { weir } = tools.mcp;
    const steps = [passthrough('one', { inputSchema })];
    await weir.db
      .updateTable('flow')
      .set({ draft: JSON.stringify({ steps }) })
      .where('id', '=', flow_id)
      .execute();
    const unpublished = await call('publish_version', { flow_id, note: '' });
    assert.match(unpublished.text, /steps\[0\]\.inputSchema \(one\): .*more than 100000 steps/);
  });

  it('remove fields that are null, and keep the others', async () => {
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
    const { projectId, organization, key } = tools.mcp.tenant;
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
    const { body } = await tools.mcp.weir.call('POST', path, { key, body: { message: 'a weir is' } });
    assert.deepEqual(body.result, [1, 4, 2]);
  });

  /** The connection of the next request, as the server has it. */
  const nextConnection = () =>
    new Promise<Socket>((resolve) => {
      const started = (message: unknown) => {
        unsubscribe('http.server.request.start', started);
        resolve((message as { socket: Socket }).socket);
      };
      subscribe('http.server.request.start', started);
    });

  it('finish an edit whose caller has disconnected', async () => {
    const flow_id = await createFlow();
    const { db } = tools.mcp.weir;
    const caller = new AbortController();
    await db.transaction().execute(async (tx) => {
      await tx.selectFrom('flow').select('id').where('id', '=', flow_id).forNoKeyUpdate().execute();
      const args = { flow_id, name: 'One', processor_type: 'passthrough' };
      const connection = nextConnection();
      const call = tools.client.callTool({ name: 'add_block', arguments: args }, { signal: caller.signal });
      await lockWaiters(db, 1);
      const closed = once(await connection, 'close');
      caller.abort();
      await assert.rejects(call);
      await closed;
    });
    await waitUntil(async () => (await ask('get_flow', { flow_id })).steps.length === 1);
  });

  it('answer an edit that was made also when the turn to read its code does not come', async () => {
    const flow_id = await createFlow();
    const refuse = mock.method(tools.mcp.weir.largeValues, 'readCode', async () => {
      throw new RetryLater('RATE_LIMITED', 'try again');
    });
    try {
      const { problems } = await add(flow_id, 'A', { processor_type: 'code', prompt: 'return (' });
      assert.deepEqual(
        problems.map(({ path }: { path: string }) => path),
        ['steps[0].prompt'],
      );
    } finally {
      refuse.mock.restore();
    }
    assert.equal((await ask('get_flow', { flow_id })).steps.length, 1);
  });

  it('publish in the turns of the organization, not of the user', async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'A', { processor_type: 'code', prompt: 'return 1' });
    const reads = mock.method(tools.mcp.weir.largeValues, 'readCode');
    await ask('publish_version', { flow_id, note: '' });
    const owners = reads.mock.calls.map(({ arguments: [owner] }) => owner);
    reads.mock.restore();
    assert.deepEqual([...new Set(owners)], [tools.mcp.tenant.organizationId]);
  });

  it('lose no edit when several come at once', async () => {
    const flow_id = await createFlow();
    const names = Array.from({ length: 12 }, (_, index) => `Block ${index}`);
    await Promise.all(names.map((name) => add(flow_id, name)));
    const { steps } = await ask('get_flow', { flow_id });
    assert.deepEqual(steps.map(({ name }: { name: string }) => name).sort(), names.sort());
  });
});
