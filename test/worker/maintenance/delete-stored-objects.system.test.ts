import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createObjectDeletion } from '../../../activities/maintenance/delete-stored-objects.ts';
import { connect, type Db } from '../../../db/connect.ts';
import { recordBlockRun } from '../../../db/runs/block-runs.ts';
import { loadTexts } from '../../../db/stored-values/load-references.ts';
import { storeOutput } from '../../../db/stored-values/stored-outputs.ts';
import { deleteOld } from '../../../db/upkeep/delete-old.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { openObjectStore } from '../../../platform/object-store/open-object-store.ts';
import { code } from '../../blocks.ts';
import { keepLocks } from '../../db/lock-waiters.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { startProgram } from '../../faults/processes.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { BUILD_MAX_MS } from '../../platform/object-store/s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from '../../platform/object-store/s3-server.ts';
import { waitUntil } from '../../wait-until.ts';

const LARGE = 300_000;
/** On a busy machine, an output may be for the database instead: then another run is tried. */
const WRITTEN_MS = 30_000;
const SIGNAL = new AbortController().signal;

describeWithS3('deleting objects', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let proxy: TcpProxy;
  let weir: Weir;
  let tenant: Tenant;
  let objects: ObjectStore | undefined;
  let db: Db;
  let remove: () => Promise<void>;
  before(async () => {
    server = await startS3Server();
    proxy = await startTcpProxy(server.url);
    weir = await startWeir({ env: { ...server.env, WEIR_OBJECT_STORE_ENDPOINT: proxy.url }, worker: false });
    objects = await openObjectStore(weir.config.objectStore);
    db = connect(weir.config.databaseUrl, 4, undefined, objects);
    const perform = createObjectDeletion(db);
    remove = () => perform(SIGNAL);
    tenant = await weir.createTenant();
  });
  after(async () => {
    await db.destroy();
    objects?.close();
    await weir.stop();
    await proxy.close();
    await server.stop();
  });
  afterEach(() => weir.stopWorker());

  const createFlow = () =>
    weir.createFlow(tenant, [code('make', `return input.padEnd(${LARGE}, 'x');`), code('end', 'return 1;')]);
  const start = async (flow: string, message: string): Promise<string> => {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } });
    return body.executionId;
  };
  const run = async (message: string) => {
    const flow = await createFlow();
    const executionId = await start(flow, message);
    await weir.startWorker();
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assert.equal(body.status, 'completed');
    await weir.stopWorker();
    assert.equal((await server.keys(executionId)).length, 1);
    return executionId;
  };
  /** Makes the objects of a call older, so that nobody may be writing them. */
  const age = (executionId: string, interval: string) =>
    sql`update stored_object set created_at = now() - ${interval}::interval where execution_id = ${executionId}`.execute(
      db,
    );
  const rowsOf = (executionId: string) =>
    db.selectFrom('stored_object').select('linked').where('execution_id', '=', executionId).execute();
  const isGone = async (executionId: string) => {
    assert.deepEqual(await server.keys(executionId), []);
    assert.deepEqual(await rowsOf(executionId), []);
  };

  it('follows the retention of runs, and leaves those of others', async () => {
    const old = await run('old');
    const young = await run('young');
    await sql`update run set started_at = now() - interval '10 days', finished_at = now() - interval '10 days'
      where execution_id = ${old}`.execute(db);
    await age(old, '10 days');
    await age(young, '10 days');
    assert.equal((await deleteOld(db, 5, 10)).runs, 1);
    assert.equal((await server.keys(old)).length, 1);
    await remove();
    await isGone(old);
    assert.equal((await server.keys(young)).length, 1);
  });

  it('finds objects of runs that were deleted in any other way', async () => {
    const executionId = await run('dropped');
    await age(executionId, '10 minutes');
    await sql`delete from block_run where execution_id = ${executionId}`.execute(db);
    await sql`delete from run where execution_id = ${executionId}`.execute(db);
    await remove();
    await isGone(executionId);
  });

  it('goes on after the store was away', async () => {
    const executionId = await run('away');
    await age(executionId, '10 minutes');
    await sql`delete from block_run where execution_id = ${executionId}`.execute(db);
    await sql`delete from run where execution_id = ${executionId}`.execute(db);
    await proxy.refuse();
    await assert.rejects(remove(), { name: 'ObjectStoreUnavailable' });
    assert.equal((await rowsOf(executionId)).length, 1);
    await proxy.restore();
    await remove();
    await isGone(executionId);
  });

  it('goes on with the objects of its bucket when those of an earlier one cannot be reached any more', async () => {
    const executionId = await run('moved');
    await age(executionId, '10 minutes');
    // As many as one request deletes, and older than the one that can be deleted.
    await sql`insert into stored_object (execution_id, block_key, sha256, location, bytes, created_at, doomed_at)
      select gen_random_uuid(), 'b', 'h', 'gone-bucket/' || number, 1, now() - interval '1 day', now() - interval '1 day'
      from generate_series(1, 1000) as number`.execute(db);
    await sql`delete from block_run where execution_id = ${executionId}`.execute(db);
    await sql`delete from run where execution_id = ${executionId}`.execute(db);
    await assert.rejects(remove(), { name: 'ObjectStoreUnavailable' });
    await assert.rejects(remove(), { name: 'ObjectStoreUnavailable' });
    await isGone(executionId);
    await sql`delete from stored_object where location like 'gone-bucket/%'`.execute(db);
  });

  it('finds what a writer has left behind; one that is late after all stores its output in the database', async () => {
    const executionId = await run('late');
    const execution = { callId: executionId, blockKey: 'late' };
    const output = JSON.stringify('late'.padEnd(LARGE, 'x'));
    const stored = await storeOutput(db, tenant.organizationId, execution, output);
    assert.ok(stored);
    await remove();
    assert.equal((await server.keys(executionId)).length, 2);
    await sql`update stored_object set created_at = now() - interval '2 hours' where not linked`.execute(db);
    await remove();
    assert.equal((await server.keys(executionId)).length, 1);
    const block = {
      stepId: 'late',
      name: 'late',
      processorType: 'code',
      input: { json: 1 } as never,
    } as const;
    const trace = { ...execution, ...block, attempts: 1, startedAt: performance.now() };
    assert.ok(
      await recordBlockRun(db, { organizationId: tenant.organizationId }, { ...trace, output, stored }),
    );
    const texts = await loadTexts(db, executionId, ['late']);
    assert.equal(texts.get('late')?.text, output);
  });

  it('is not needed for a worker that dies between an object and its record: the repeated output is the same object', async () => {
    const flow = await createFlow();
    const loseWorker = async () => {
      const executionId = await start(flow, 'killed');
      const worker = await startProgram(weir, 'worker/worker.ts', {
        ...server.env,
        NODE_OPTIONS: '--import=./worker/disable-workflow-watchdog.ts',
      });
      return db.transaction().execute(async (tx) => {
        await keepLocks(tx);
        // The record of a block needs the row of its run.
        await sql`select from run where execution_id = ${executionId} for update`.execute(tx);
        const end = performance.now() + WRITTEN_MS;
        const isWritten = await waitUntil(async () => {
          const written = (await server.keys(executionId)).length > 0;
          return (written || performance.now() > end) && { written };
        });
        await worker.kill();
        return isWritten.written && executionId;
      });
    };
    const executionId = await waitUntil(loseWorker);
    await weir.startWorker();
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assert.equal(body.status, 'completed');
    assert.equal((await server.keys(executionId)).length, 1);
    assert.deepEqual(await rowsOf(executionId), [{ linked: true }]);
  });
});
