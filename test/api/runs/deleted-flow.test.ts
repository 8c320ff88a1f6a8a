import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { insertFlow } from '../../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import { deleteDefinitions } from '../../../db/upkeep/delete-definitions.ts';
import { llm, passthrough } from '../../blocks.ts';
import { answer } from '../../fakes/model-server.ts';
import { type EventsWeir, startEventsWeir } from './events-harness.ts';
import { assertCancelled } from './jobs-harness.ts';

describe('a run whose flow is deleted while it is under way', () => {
  let weir: EventsWeir;
  before(async () => {
    weir = await startEventsWeir();
  });
  after(() => weir.stop());

  async function startAndDelete({ versions = 1 } = {}) {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat'), passthrough('last')]);
    const slug = flow.split('/')[2] as string;
    if (versions === 2) {
      const { id } = await weir.db
        .selectFrom('flow')
        .select('id')
        .where('slug', '=', slug)
        .executeTakeFirstOrThrow();
      await setProductionVersion(weir.db, id, await publishVersion(weir.db, id, 'further'));
    }
    const { executionId, response } = await weir.startHeld(flow);
    await weir.db.updateTable('flow').set({ deleted_at: new Date() }).where('slug', '=', slug).execute();
    return { flow, slug, executionId, release: () => answer('done')(response) };
  }
  const { stringify } = JSON;
  const post = (path: string, body: object = { message: 'm' }) =>
    weir.call('POST', path, { key: weir.tenant.key, body });

  it('is read, followed and told to its end at the path where it was accepted', async () => {
    const { flow, executionId, release } = await startAndDelete();
    release();
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    assert.deepEqual([body.status, body.result], ['completed', 'done'], stringify(body));
    const events = (await weir.list(flow, executionId)).map(({ event }) => event);
    assert.equal(events.at(-1), 'run_completed');
    for (const more of ['/blocks', '/request'])
      assert.equal((await weir.read(flow, `${executionId}${more}`)).status, 200, more);
  });

  it('is read there also when the version of the path, another than that of the run, is deleted', async () => {
    const { flow: unversioned, slug, executionId } = await startAndDelete({ versions: 2 });
    const flow = `${unversioned}/v1`;
    assert.equal((await weir.read(flow, executionId)).status, 200);
    await sql`update flow set deleted_at = now() - interval '1 hour' where slug = ${slug}`.execute(weir.db);
    await deleteDefinitions(weir.db, 100);
    assert.equal((await weir.read(flow, executionId)).status, 200);
    assert.equal((await weir.cancel(unversioned, executionId)).status, 202);
    assertCancelled((await weir.finish(flow, executionId, weir.tenant.key)).body);
  });

  it('is cancelled there, and among the runs of its project', async () => {
    const { flow, executionId } = await startAndDelete();
    assert.equal((await weir.cancel(flow, executionId)).status, 202);
    assertCancelled((await weir.finish(flow, executionId, weir.tenant.key)).body);
    const other = await startAndDelete();
    const { body } = await post(`/projects/${weir.tenant.projectId}/runs/cancel`, { flow: other.slug });
    assert.deepEqual(body.cancelled, [other.executionId]);
    assertCancelled((await weir.finish(other.flow, other.executionId, weir.tenant.key)).body);
  });

  it('is found beside a new flow of the same slug, which has its own runs', async () => {
    const { flow, slug, executionId } = await startAndDelete();
    const { projectId } = weir.tenant;
    await insertFlow(weir.db, { projectId, slug, name: slug, definition: { steps: [passthrough('new')] } });
    assert.equal((await weir.read(flow, executionId)).body.executionId, executionId);
    const { body } = await weir.call('GET', `${flow}/runs`, { key: weir.tenant.key });
    assert.deepEqual(body.runs, []);
    await weir.cancel(flow, executionId);
    await weir.finish(flow, executionId, weir.tenant.key);
  });

  it('begins nothing more: no run of the flow, no repeat, and no other flow is reached through it', async () => {
    const { flow, executionId } = await startAndDelete();
    await weir.cancel(flow, executionId);
    await weir.finish(flow, executionId, weir.tenant.key);
    for (const path of [
      `${flow}/jobs`,
      `${flow}/jobs/${executionId}/retry`,
      `${flow}/jobs/${executionId}/rerun`,
    ]) {
      const { status, body } = await post(path, path.endsWith('jobs') ? undefined : {});
      assert.deepEqual([status, body.detail?.code], [404, 'FLOW_NOT_FOUND'], path);
    }
    const stranger = await weir.createTenant();
    const asked = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: stranger.key });
    assert.equal(asked.status, 404);
  });
});
