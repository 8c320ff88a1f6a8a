import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import { buildDeliveryBody } from '../../../activities/deliveries/delivery-request.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { type CountingModelServer, startCountingModelServer } from '../../fakes/counting-model-server.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { untilRescheduled } from '../../until-rescheduled.ts';
import { waitUntil } from '../../wait-until.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { BUCKET, describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const LARGE = 300_000;
const large = (text: string) => code('make', `return '${text}'.padEnd(${LARGE}, 'x');`);
const made = (text: string) => text.padEnd(LARGE, 'x');

describeWithS3('outputs in an object store', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let proxy: TcpProxy;
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    server = await startS3Server();
    proxy = await startTcpProxy(server.url);
    models = await startCountingModelServer(0);
    const store = { WEIR_OBJECT_STORE_ENDPOINT: proxy.url, WEIR_OBJECT_STORE_MIN_BYTES: '65536' };
    weir = await startWeir({ env: { ...server.env, ...store, DEMO_BASE_URL: models.url } });
    tenant = await weir.createTenant({ credits: 1_000_000 });
  });
  after(async () => {
    await weir.stop();
    await models.close();
    await proxy.close();
    await server.stop();
  });
  const execute = (flow: string, message: string) =>
    weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } });
  const start = async (flow: string, message: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } })).body.executionId;
  const get = (path: string, key = tenant.key) => weir.call('GET', path, { key });
  const rowsOf = (executionId: string) =>
    weir.db
      .selectFrom('block_run')
      .select(['block_key', sql<boolean>`output is null`.as('elsewhere')])
      .where('execution_id', '=', executionId)
      .orderBy('block_key')
      .execute();

  it('are there when they are large, and read like all others', async () => {
    const flow = await weir.createFlow(tenant, [
      large('a'),
      passthrough('pass'),
      code('count', 'return { length: input.length, same: input === outputs.make };'),
    ]);
    const { status, body } = await execute(flow, 'm');
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.result, { length: LARGE, same: true });
    assert.deepEqual(await rowsOf(body.executionId), [
      { block_key: 'count', elsewhere: false },
      { block_key: 'make', elsewhere: true },
      { block_key: 'pass', elsewhere: true },
    ]);
    const keys = await server.keys(body.executionId);
    assert.equal(keys.length, 2);
    for (const key of keys)
      assert.match(
        key,
        new RegExp(`^runs/${tenant.organizationId}/${body.executionId}/[0-9a-f]{32}-[0-9a-f]{64}$`),
      );
    const block = `${flow}/jobs/${body.executionId}/blocks/make`;
    assert.equal((await get(`${block}/output`)).body, made('a'));
    assert.equal((await get(block)).body.outputBytes, LARGE + 2);
    assert.equal((await get(`${flow}/jobs/${body.executionId}/blocks/pass/input`)).body, made('a'));
  });

  it('are composed by loops and parallel steps, and are the result of a run', async () => {
    const flow = await weir.createFlow(tenant, [
      {
        type: 'parallel',
        step_id: 'both',
        name: 'both',
        branches: {
          one: [large('1')],
          two: [code('two', `return ['b', 'c'].map((c) => c.padEnd(${LARGE}, 'x'));`)],
        },
      },
      code('pick', 'return input.two;'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 5, body: [passthrough('item')] },
    ]);
    const { status, body } = await execute(flow, 'm');
    assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
    assert.deepEqual(body.result, [made('b'), made('c')]);
    const job = await get(`${flow}/jobs/${body.executionId}`);
    assert.deepEqual(job.body.result, body.result);
    assert.equal((await server.keys(body.executionId)).length, 5);
  });

  it('can be read by a signed URL, by who may read the run alone', async () => {
    const flow = await weir.createFlow(tenant, [large('signed'), code('small', 'return 1;')]);
    const { body } = await execute(flow, 'm');
    const blocks = `${flow}/jobs/${body.executionId}/blocks`;
    const signed = await get(`${blocks}/make/output/url`);
    assert.equal(signed.status, 200, JSON.stringify(signed.body));
    assert.equal(signed.body.outputBytes, LARGE + 2);
    assert.equal(await (await fetch(signed.body.url)).json(), made('signed'));
    assert.deepEqual((await get(`${blocks}/small/output/url`)).body, {
      url: null,
      expiresAt: null,
      outputBytes: 1,
    });
    const stranger = await weir.createTenant();
    assert.equal((await get(`${blocks}/make/output/url`, stranger.key)).status, 404);
    assert.equal((await get(`${blocks}/make/output`, stranger.key)).status, 404);
    assert.equal((await weir.call('GET', `${blocks}/make/output/url`)).status, 401);
    assert.equal((await get(`${blocks}/other/output/url`)).status, 404);
  });

  it('are objects of each organization, also when they are the same', async () => {
    const other = await weir.createTenant();
    for (const one of [tenant, other]) {
      const flow = await weir.createFlow(one, [large('same')]);
      const { body } = await weir.call('POST', `${flow}/execute`, { key: one.key, body: { message: 'm' } });
      const [key = ''] = await server.keys(body.executionId);
      assert.ok(key.startsWith(`runs/${one.organizationId}/`), key);
    }
  });

  it('are in the database while the store is away, for which no run waits', async () => {
    const flow = await weir.createFlow(tenant, [large('away'), code('count', 'return input.length;')]);
    await proxy.refuse();
    const metrics = captureMetrics();
    const { status, body } = await execute(flow, 'm');
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.result, LARGE);
    assert.deepEqual(await metrics.read('weir.object_store.fallbacks'), { '': 1 });
    metrics.stop();
    assert.deepEqual(await rowsOf(body.executionId), [
      { block_key: 'count', elsewhere: false },
      { block_key: 'make', elsewhere: false },
    ]);
    await waitUntil(async () => {
      const answer = await fetch(`${weir.url}/readyz`);
      const { away } = (await answer.json()) as { away: object };
      const ready = { status: answer.status, away };
      // On a busy machine, other parts may seem away.
      return isDeepStrictEqual(ready, { status: 200, away: { objects: 'does not answer' } });
    });
    await proxy.restore();
    assert.equal((await get(`${flow}/jobs/${body.executionId}/blocks/make/output`)).body, made('away'));
    await waitUntil(async () => {
      const { body } = await execute(flow, 'm');
      return (await rowsOf(body.executionId))[1]?.elsewhere;
    });
  });

  it('are waited for while the store is away, and refused over HTTP', async () => {
    const flow = await weir.createFlow(tenant, [
      {
        type: 'parallel',
        step_id: 'both',
        name: 'both',
        branches: { one: [large('waits')], two: [llm('ask', 'ask', 'demo/chat')] },
      },
      code('read', 'return input.one.length;'),
    ]);
    const held = models.hold('ask');
    const executionId = await start(flow, 'm');
    await held.arrived(1);
    const rows = await waitUntil(async () => {
      const all = await rowsOf(executionId);
      return all.length > 0 && all;
    });
    assert.deepEqual(rows, [{ block_key: 'make', elsewhere: true }]);
    proxy.cut();
    const refused = await get(`${flow}/jobs/${executionId}/blocks/make/output`);
    assert.deepEqual([refused.status, refused.body.detail.code], [503, 'OBJECT_STORE_UNAVAILABLE']);
    assert.ok(refused.headers.get('retry-after'));
    held.release();
    // On a timer, which holds up no workflow task.
    await untilRescheduled(weir, executionId);
    await proxy.restore();
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assert.deepEqual([body.status, body.result], ['completed', LARGE]);
  });

  it('that are lost fail what reads them, with a reference', async () => {
    const flow = await weir.createFlow(tenant, [large('lost')]);
    const { body } = await execute(flow, 'm');
    const Objects = (await server.keys(body.executionId)).map((Key) => ({ Key }));
    await server.client.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }));
    const lost = await get(`${flow}/jobs/${body.executionId}`);
    assert.deepEqual([lost.status, lost.body.detail.code], [500, 'INTERNAL_ERROR']);
    assert.match(lost.body.detail.message, new RegExp(`lost \\(reference ${body.executionId}/make\\)`));
  });

  it('are left out of a webhook when they are lost; while the store is away, the webhook waits', async () => {
    const flow = await weir.createFlow(tenant, [code('make', "return 'lost'.padEnd(100_000, 'x');")]);
    const { body } = await execute(flow, 'm');
    const run = await weir.db
      .selectFrom('run')
      .selectAll()
      .where('execution_id', '=', body.executionId)
      .executeTakeFirstOrThrow();
    const delivery = {
      ...run,
      event_type: 'flow.completed',
      target_url: '',
      body: null,
      round: 1,
      status: 'in_flight',
    } as const;
    const build = async () =>
      JSON.parse(await buildDeliveryBody({ db: weir.db, inputs: weir.gates.inputs }, delivery));
    assert.equal((await build()).result.length, 100_000);
    await proxy.refuse();
    await assert.rejects(build(), { name: 'ObjectStoreUnavailable' });
    await proxy.restore();
    const Objects = (await server.keys(body.executionId)).map((Key) => ({ Key }));
    await server.client.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }));
    const { result, truncated, originalResultBytes } = await build();
    assert.deepEqual([result, truncated, originalResultBytes], [null, true, 100_002]);
  });

  it('have the hash of their content', async () => {
    const flow = await weir.createFlow(tenant, [large('hash')]);
    const { body } = await execute(flow, 'm');
    const { sha256, bytes, linked } = await weir.db
      .selectFrom('stored_object')
      .select(['sha256', 'bytes', 'linked'])
      .where('execution_id', '=', body.executionId)
      .executeTakeFirstOrThrow();
    const json = JSON.stringify(made('hash'));
    assert.deepEqual(
      [sha256, bytes, linked],
      [createHash('sha256').update(json).digest('hex'), json.length, true],
    );
  });
});
