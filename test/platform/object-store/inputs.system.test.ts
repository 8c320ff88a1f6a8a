import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { buildDeliveryBody } from '../../../activities/deliveries/delivery-request.ts';
import { createInProcessRuns } from '../../../activities/in-process-runs.ts';
import { connect } from '../../../db/connect.ts';
import { findBlockTrace, measureTrace } from '../../../db/runs/block-traces.ts';
import { getRequestOfRun, getRunInput } from '../../../db/runs/runs.ts';
import { code, passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { readInputColumn } from './read-input-column.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { BUCKET, describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const LARGE = 100_000;
const large = (text: string) => text.padEnd(LARGE, 'x');

describeWithS3('inputs in an object store', function () {
  this.timeout(BUILD_MAX_MS);
  const inProcessRuns = createInProcessRuns();
  let server: S3Server;
  let proxy: TcpProxy;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    server = await startS3Server();
    proxy = await startTcpProxy(server.url);
    const more = {
      WEIR_OBJECT_STORE_ENDPOINT: proxy.url,
      WEIR_OBJECT_STORE_MIN_BYTES: '65536',
      WEIR_TEST_DIAL_MAP: JSON.stringify({ 'images.example': '127.0.0.1:9' }),
    };
    weir = await startWeir({ env: { ...server.env, ...more }, inProcessRuns, worker: false });
    tenant = await weir.createTenant();
  });
  beforeEach(() => weir.startWorker());
  afterEach(() => weir.stopWorker());
  after(async () => {
    await weir.stop();
    await proxy.close();
    await server.stop();
  });
  const post = (path: string, body?: object) => weir.call('POST', path, { key: tenant.key, body });
  const get = (path: string, key = tenant.key) => weir.call('GET', path, { key });
  const lose = async (callId: string) => {
    const Objects = (await server.keys(`${callId}/request-`)).map((Key) => ({ Key }));
    assert.equal(Objects.length, 1);
    await server.client.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }));
  };
  /** Starts a job that no worker has begun, and that this process has forgotten. */
  const startUnseen = async (flow: string, body: object): Promise<string> => {
    await weir.stopWorker();
    const { status, body: job } = await post(`${flow}/jobs`, body);
    assert.equal(status, 202, JSON.stringify(job));
    inProcessRuns.contexts.clear();
    return job.executionId;
  };
  const finish = async (flow: string, executionId: string) => {
    const { body } = await weir.finish(flow, executionId, tenant.key);
    return body;
  };

  it('are there when they are large, and read by workers and over HTTP like all others', async () => {
    const flow = await weir.createFlow(tenant, [
      passthrough('pass'),
      code('count', 'return [message.length, parameters.a.length, input === message];'),
    ]);
    const sent = { message: large('m'), parameters: { a: large('a') } };
    const executionId = await startUnseen(flow, sent);
    assert.ok((await readInputColumn(weir.db, executionId)).elsewhere);
    const keys = await server.keys(`${executionId}/request-`);
    assert.match(
      String(keys),
      new RegExp(`^runs/${tenant.organizationId}/${executionId}/request-[0-9a-f]{64}$`),
    );
    await weir.startWorker();
    const { status, result } = await finish(flow, executionId);
    assert.deepEqual([status, result], ['completed', [LARGE, LARGE, true]]);
    const job = `${flow}/jobs/${executionId}`;
    const request = await get(`${job}/request?full=true`);
    assert.deepEqual([request.body.message, request.body.parameters], [sent.message, sent.parameters]);
    assert.equal((await get(`${job}/request`)).body.message, null);
    assert.equal((await get(`${job}/blocks/pass/input`)).body, sent.message);
    const stranger = await weir.createTenant();
    assert.equal((await get(`${job}/request`, stranger.key)).status, 404);
  });

  it('are in the database when they are small', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('pass')]);
    const { body } = await post(`${flow}/execute`, { message: 'small' });
    assert.equal(JSON.parse((await readInputColumn(weir.db, body.executionId)).text).message, 'small');
    assert.deepEqual(await server.keys(`${body.executionId}/request-`), []);
  });

  it('are there as a whole, with the attachments', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('pass')]);
    const attachments = [{ kind: 'url', url: 'https://images.example/a.png', mime_type: 'image/png' }];
    const executionId = await startUnseen(flow, { message: large('m'), attachments });
    const input = await getRunInput(weir.db, executionId);
    assert.equal(input.attachments?.[0]?.url, attachments[0]?.url);
    const [key = ''] = await server.keys(`${executionId}/request-`);
    assert.ok(key.endsWith(createHash('sha256').update(JSON.stringify(input)).digest('hex')));
    const request = await get(`${flow}/jobs/${executionId}/request`);
    assert.deepEqual(request.body.attachments, input.attachments);
  });

  it('count with their bytes for who holds memory for them before they are read', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('pass')]);
    const executionId = await startUnseen(flow, { message: large('bytes') });
    const bytes = Buffer.byteLength(JSON.stringify(await getRunInput(weir.db, executionId)));
    assert.equal((await getRequestOfRun(weir.db, executionId)).bytes, bytes);
    assert.equal(await measureTrace(weir.db, executionId), bytes);
    await weir.startWorker();
    await finish(flow, executionId);
    assert.equal((await findBlockTrace(weir.db, executionId, 'pass'))?.request_bytes, bytes);
  });

  it('are the result of a run that passes them on, in its answer and its webhook', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('pass')]);
    const { body } = await post(`${flow}/execute`, { message: large('on') });
    assert.equal(body.result, large('on'));
    assert.equal((await get(`${flow}/jobs/${body.executionId}`)).body.result, large('on'));
    const run = await weir.db
      .selectFrom('run')
      .selectAll()
      .where('execution_id', '=', body.executionId)
      .executeTakeFirstOrThrow();
    const ofMessage = { result: { ref: '$message', bytes: LARGE }, target_url: '', body: null, round: 1 };
    const delivery = { ...run, ...ofMessage, event_type: 'flow.completed', status: 'in_flight' } as const;
    const build = async () =>
      JSON.parse(await buildDeliveryBody({ db: weir.db, inputs: weir.gates.inputs }, delivery));
    assert.equal((await build()).result, large('on'));
    await proxy.refuse();
    await assert.rejects(build(), { name: 'ObjectStoreUnavailable' });
    await proxy.restore();
    await lose(body.executionId);
    const { result, truncated } = await build();
    assert.deepEqual([result, truncated], [null, true]);
  });

  it('are read by a rerun, a fork and a retry, which brings the outputs of the steps before', async () => {
    const flow = await weir.createFlow(tenant, [
      code('make', 'return parameters.a;'),
      code('fail', "if (message === 'fail') throw new Error('no'); return input.length;"),
    ]);
    const sent = { message: 'fail', parameters: { a: large('a') } };
    const failed = await post(`${flow}/execute`, sent);
    assert.equal(failed.body.status, 'failed');
    const job = `${flow}/jobs/${failed.body.executionId}`;
    for (const [how, objects] of [
      ['rerun', 1],
      ['retry', 1],
    ] as const) {
      const again = await post(`${job}/${how}`);
      assert.equal(again.status, 202, JSON.stringify(again.body));
      const { status } = await finish(flow, again.body.executionId);
      assert.equal(status, 'failed');
      assert.equal((await server.keys(`${again.body.executionId}/request-`)).length, objects);
      const { continuation, parameters } = await getRunInput(weir.db, again.body.executionId);
      assert.deepEqual(parameters, sent.parameters);
      assert.deepEqual(continuation?.outputs, how === 'retry' ? { make: large('a') } : undefined);
    }
    const fork = await get(`${job}/fork?step=1`);
    assert.deepEqual(fork.body.parameters, sent.parameters);
    assert.deepEqual(fork.body.accumulatedOutputs, { make: large('a') });
  });

  it('are in the database while the store is away, which refuses no request, and stay there', async () => {
    const flow = await weir.createFlow(tenant, [code('count', 'return message.length;')]);
    await proxy.refuse();
    const metrics = captureMetrics();
    const { status, body } = await post(`${flow}/execute`, { message: large('away') });
    assert.deepEqual([status, body.result], [200, LARGE]);
    assert.deepEqual(await metrics.read('weir.object_store.fallbacks'), { '': 1 });
    metrics.stop();
    assert.equal((await readInputColumn(weir.db, body.executionId)).elsewhere, false);
    await proxy.restore();
    const request = await get(`${flow}/jobs/${body.executionId}/request?full=true`);
    assert.equal(request.body.message, large('away'));
    await waitUntil(async () => {
      const { body } = await post(`${flow}/execute`, { message: large('back') });
      return (await readInputColumn(weir.db, body.executionId)).elsewhere;
    });
  });

  it('are waited for by runs while the store is away, and refused over HTTP with Retry-After', async () => {
    const flow = await weir.createFlow(tenant, [code('count', 'return message.length;')]);
    const executionId = await startUnseen(flow, { message: large('wait') });
    const job = `${flow}/jobs/${executionId}`;
    proxy.cut();
    await weir.startWorker();
    const isRefused = async (answer: Promise<Awaited<ReturnType<typeof get>>>) => {
      const { status, body, headers } = await answer;
      assert.deepEqual([status, body.detail?.code], [503, 'OBJECT_STORE_UNAVAILABLE']);
      assert.ok(headers.get('retry-after'));
    };
    await isRefused(get(`${job}/request`));
    await isRefused(post(`${job}/rerun`));
    const tried = proxy.connections();
    await waitUntil(() => proxy.connections() > tried);
    assert.equal((await get(job)).body.status, 'started');
    await proxy.restore();
    const { status, result } = await finish(flow, executionId);
    assert.deepEqual([status, result], ['completed', LARGE]);
  });

  it('that are lost fail the run that reads them, with a reference', async () => {
    const flow = await weir.createFlow(tenant, [code('count', 'return message.length;')]);
    const executionId = await startUnseen(flow, { message: large('lost') });
    await lose(executionId);
    await weir.startWorker();
    const { status, errorMessage } = await finish(flow, executionId);
    assert.equal(status, 'failed');
    assert.match(errorMessage, new RegExp(`lost \\(reference ${executionId}\\)`));
    const request = await get(`${flow}/jobs/${executionId}/request`);
    assert.deepEqual([request.status, request.body.detail.code], [500, 'INTERNAL_ERROR']);
  });

  it('that are lost keep no other run from being retried with them', async () => {
    const flow = await weir.createFlow(tenant, [code('count', 'throw new Error("no");')]);
    const { executionId: other } = (await post(`${flow}/execute`, { message: 'm' })).body;
    const { executionId: lost } = (await post(`${flow}/execute`, { message: large('lost') })).body;
    await lose(lost);
    const { status, body } = await post(`/projects/${tenant.projectId}/runs/retry`, {
      flow: flow.split('/')[2],
    });
    assert.deepEqual([status, body.stoppedBy], [200, null], JSON.stringify(body));
    const [[retried, ...more], [refused, ...others]] = [body.retried, body.refused];
    assert.deepEqual([retried.repeats, refused.executionId, more, others], [other, lost, [], []]);
  });

  it('cannot be read by a process without the store, which reads those in the database', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('pass')]);
    const run = async (message: string) => (await post(`${flow}/execute`, { message })).body.executionId;
    const [there, here] = [await run(large('there')), await run('here')];
    const without = connect(weir.config.databaseUrl, 1);
    await assert.rejects(getRunInput(without, there), { name: 'ObjectStoreUnavailable' });
    assert.equal((await getRunInput(without, here)).message, 'here');
    await without.destroy();
  });
});
