// What tools read of drafts and versions is in hand like the answers of other requests.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { findFlowDesign, loadDrafts, lockFlowDesign } from '../../../db/flows/flow-designs.ts';
import { insertFlow, updateDraft } from '../../../db/flows/flows.ts';
import { REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { passthrough } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { waitsForBytes } from '../http/waits-for-bytes.ts';
import { startMcpWeir } from './mcp-harness.ts';
import { useTools } from './tools-harness.ts';

const LARGE_BYTES = 1024 * 1024;
const SIZE = 1.25 * LARGE_BYTES;

describe('a large draft', () => {
  const { tools, ask, call, createFlow, add } = useTools({ worker: false });

  const store = (id: string, size = SIZE) =>
    updateDraft(tools.mcp.weir.db, id, { steps: [passthrough('a', { prompt: 'x'.repeat(size) })] });
  async function createLarge(size = SIZE): Promise<string> {
    const id = await createFlow();
    await store(id, size);
    return id;
  }
  const draftOf = async (id: string) => (await loadDrafts(tools.mcp.weir.db, [id])).get(id);
  const waits = <T>(asked: () => Promise<T>, meanwhile?: () => Promise<unknown>) =>
    waitsForBytes(tools.mcp.weir.httpGates, tools.mcp.tenant.organizationId, asked, meanwhile);
  it('waits for the share of its organization before it is read, edited, published and replaced by a version', async () => {
    const flow_id = await createLarge();
    assert.equal((await waits(() => ask('get_flow', { flow_id }))).steps.length, 1);
    const before = await draftOf(flow_id);
    const unchanged = async () => assert.deepEqual(await draftOf(flow_id), before);
    assert.equal((await waits(() => add(flow_id, 'B'), unchanged)).steps.length, 2);
    const { version_id } = await waits(() => ask('publish_version', { flow_id, note: '' }));
    await store(flow_id, 1);
    const read = await waits(() => ask('get_flow', { flow_id, version_id }));
    assert.equal(read.steps.length, 2);
    assert.equal((await waits(() => ask('restore_version', { flow_id, version_id }))).steps.length, 2);
  });

  it('is not loaded by those who need its flow alone', async () => {
    const flow_id = await createLarge();
    const { db } = tools.mcp.weir;
    assert.equal('draft' in ((await findFlowDesign(db, 'ada', flow_id)) ?? {}), false);
    await db.transaction().execute(async (tx) => {
      assert.equal('draft' in ((await lockFlowDesign(tx, 'ada', flow_id)) ?? {}), false);
    });
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    using _permit = await tools.mcp.weir.httpGates.answers.acquire(tools.mcp.tenant.organizationId, {
      weight: REQUEST_BYTES_EACH,
    });
    await ask('list_runs', { flow_id });
    await ask('update_flow', { flow_id, name: 'Renamed' });
    await ask('set_production_version', { flow_id, version_id });
  });

  it('is in hand, as often as an answer has it, until that is read', async () => {
    const { weir, mcpUrl, token } = tools.mcp;
    // More than the buffers on the way to a reader hold.
    const size = 6 * LARGE_BYTES;
    const flow_id = await createLarge(size);
    const reader = new AbortController();
    const { answers } = weir.httpGates;
    const { status } = await fetch(mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await token('ada')}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'get_flow', arguments: { flow_id } },
      }),
      signal: reader.signal,
    });
    assert.equal(status, 200);
    await waitUntil(() => answers.count().weight >= 2 * size);
    reader.abort();
    await waitUntil(() => answers.count().weight === 0);
  });

  it('is in hand for the user as part of any other answer that is long', async () => {
    const { weir, tenant } = tools.mcp;
    for (let index = 0; index < 20; index += 1)
      await insertFlow(weir.db, {
        ...{ projectId: tenant.projectId, slug: `a-${index}`, name: 'Flow' },
        description: 'x'.repeat(2_000),
      });
    const hydrate = () => ask('hydrate_project', { project_id: tenant.projectId });
    assert((await waitsForBytes(weir.httpGates, 'ada', hydrate)).flows.length > 0);
  });

  it('is answered to whoever waits to read it while the process stops', async () => {
    const mcp = await startMcpWeir({ worker: false });
    await mcp.join('ada');
    const client = await mcp.connect(await mcp.token('ada'));
    const { projectId } = mcp.tenant;
    const steps = [passthrough('a', { prompt: 'x'.repeat(SIZE) })];
    const { id } = await insertFlow(mcp.weir.db, {
      ...{ projectId, slug: 'large', name: 'Flow' },
      definition: { steps },
    });
    const { answers } = mcp.weir.httpGates;
    const permit = await answers.acquire(mcp.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
    const read = mcp.callTool(client, 'get_flow', { flow_id: id });
    await waitUntil(() => answers.count().queued > 0);
    const stopped = mcp.stop();
    await waitUntil(() =>
      fetch(`${mcp.weir.url}/readyz`)
        .then(() => false)
        .catch(() => true),
    );
    permit.release();
    const { isError, text, data } = await read;
    assert.equal(isError, false, text);
    assert.deepEqual(data.steps.length, 1);
    await stopped;
  });

  it('stays as it was when the models that work for an edit cannot be looked up', async () => {
    const flow_id = await createFlow();
    const { db } = tools.mcp.weir;
    await sql`alter table model_key rename to hidden`.execute(db);
    const added = { flow_id, name: 'A', processor_type: 'llm', prompt: 'p' };
    const { isError } = await call('add_block', added).finally(() =>
      sql`alter table hidden rename to model_key`.execute(db),
    );
    assert.deepEqual([isError, await draftOf(flow_id)], [true, { steps: [] }]);
  });
});
