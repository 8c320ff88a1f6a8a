import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createObjectDeletion } from '../../../activities/maintenance/delete-stored-objects.ts';
import { connect, type Db, type Tx } from '../../../db/connect.ts';
import { getRunInput } from '../../../db/runs/runs.ts';
import {
  inputObject,
  readInput,
  replaceInput,
  storeInputs,
} from '../../../db/stored-values/stored-inputs.ts';
import { deleteOld } from '../../../db/upkeep/delete-old.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { openObjectStore } from '../../../platform/object-store/open-object-store.ts';
import { passthrough } from '../../blocks.ts';
import { countLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const LARGE = 300_000;
const SIGNAL = new AbortController().signal;

describeWithS3('deleting inputs from an object store', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let objects: ObjectStore | undefined;
  let db: Db;
  let remove: () => Promise<void>;
  before(async () => {
    server = await startS3Server();
    weir = await startWeir({ env: server.env, worker: false });
    objects = await openObjectStore(weir.config.objectStore);
    db = connect(weir.config.databaseUrl, 4, undefined, objects);
    const perform = createObjectDeletion(db);
    remove = () => perform(SIGNAL);
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('pass')]);
  });
  after(async () => {
    await db.destroy();
    objects?.close();
    await weir.stop();
    await server.stop();
  });

  const large = (text: string) => text.padEnd(LARGE, 'x');
  const send = (text: string, options: { headers?: Record<string, string>; url?: string } = {}) =>
    weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: large(text) }, ...options });
  const start = async (text: string): Promise<string> => (await send(text)).body.executionId;
  const rows = () =>
    db.selectFrom('stored_object').select(['execution_id', 'linked']).orderBy('created_at').execute();
  /** Makes all objects so old that nobody can be writing them. */
  const age = () => sql`update stored_object set created_at = now() - interval '2 hours'`.execute(db);
  /** Does `work` while a request with a large message has written its object and waits to store its run. */
  const betweenObjectAndRow = async <T>(
    request: () => Promise<T>,
    work: (executionId: string) => Promise<void>,
  ) => {
    await age();
    const { answer } = await db.transaction().execute(async (tx: Tx) => {
      await sql`lock table run in share mode`.execute(tx);
      const answer = request();
      answer.catch(() => undefined);
      await lockWaiters(weir.db, 1);
      const { execution_id } = (await rows()).at(-1) as { execution_id: string };
      assert.equal((await server.keys(execution_id)).length, 1);
      await work(execution_id);
      return { answer };
    });
    return answer;
  };

  it('follows the retention of runs, and leaves those of others', async () => {
    const [old, young] = [await start('old'), await start('young')];
    await sql`update run set status = 'failed', started_at = now() - interval '10 days', finished_at = now() - interval '10 days'
      where execution_id = ${old}`.execute(db);
    await age();
    assert.equal((await deleteOld(db, 5, 10)).runs, 1);
    await remove();
    assert.deepEqual(await server.keys(old), []);
    assert.equal((await server.keys(young)).length, 1);
    await assert.rejects(getRunInput(db, old), { code: 'RUN_NOT_FOUND' });
  });

  it('finds inputs of runs that were deleted in any other way', async () => {
    const executionId = await start('dropped');
    await age();
    await sql`delete from run where execution_id = ${executionId}`.execute(db);
    await remove();
    assert.deepEqual(await server.keys(executionId), []);
    assert.ok(!(await rows()).some(({ execution_id }) => execution_id === executionId));
  });

  it('finds the object of a request whose process died before it stored the run', async () => {
    const api = await startApiProcess(weir, server.env);
    let executionId = '';
    const answer = betweenObjectAndRow(
      () => send('killed', { url: api.url }),
      async (id) => {
        executionId = id;
        await api.kill();
      },
    );
    await assert.rejects(answer);
    await waitUntil(async () => (await countLockWaiters(weir.db)) === 0);
    await assert.rejects(getRunInput(db, executionId), { code: 'RUN_NOT_FOUND' });
    await remove();
    assert.equal((await server.keys(executionId)).length, 1, 'its writer may be alive');
    await age();
    await remove();
    assert.deepEqual(await server.keys(executionId), []);
  });

  it('finds the object of a request whose Idempotency-Key another has taken meanwhile', async () => {
    await age();
    await remove();
    const before = new Set(await server.keys());
    const headers = { 'idempotency-key': 'once' };
    const { answers } = await db.transaction().execute(async (tx) => {
      await sql`lock table run in share mode`.execute(tx);
      const answers = Promise.all([send('key', { headers }), send('key', { headers })]);
      answers.catch(() => undefined);
      await lockWaiters(weir.db, 2);
      return { answers };
    });
    const [one, other] = await answers;
    assert.deepEqual([one.status, other.status], [202, 202]);
    assert.equal(one.body.executionId, other.body.executionId);
    const added = async () => (await server.keys()).filter((key) => !before.has(key));
    assert.equal((await added()).length, 2);
    await age();
    await remove();
    assert.deepEqual(await added(), await server.keys(one.body.executionId));
    assert.equal((await getRunInput(db, one.body.executionId)).message, large('key'));
  });

  it('leaves alone what a request is about to link', async () => {
    const answer = await betweenObjectAndRow(
      () => send('slow'),
      async () => void (await remove()),
    );
    assert.equal(answer.status, 202);
    const { executionId } = answer.body;
    await age();
    await remove();
    assert.equal((await getRunInput(db, executionId)).message, large('slow'));
    assert.deepEqual(
      (await rows()).filter(({ execution_id }) => execution_id === executionId),
      [{ execution_id: executionId, linked: true }],
    );
  });

  it('refuses no request that was taken for dead: its input is in the database', async () => {
    const answer = await betweenObjectAndRow(
      () => send('late'),
      async () => {
        await age();
        await remove();
      },
    );
    assert.equal(answer.status, 202);
    const { executionId } = answer.body;
    const { input } = await db
      .selectFrom('run')
      .select('input')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.equal(input?.message, large('late'));
    assert.deepEqual(await server.keys(executionId), []);
  });

  it('finds inputs that were replaced; who was about to read one reads what replaced it', async () => {
    const callId = await start('replaced');
    const select = () =>
      db
        .selectFrom('run')
        .select(['input', inputObject.as('object')])
        .where('execution_id', '=', callId)
        .executeTakeFirstOrThrow();
    const first = await select();
    const input = { ...(await readInput(db, callId, first)), message: large('other') };
    const stored = await storeInputs(db, tenant.organizationId, [{ callId, input }]);
    await db.transaction().execute((tx) => replaceInput(tx, callId, stored.get(input)));
    assert.equal((await server.keys(callId)).length, 2);
    await age();
    await remove();
    assert.equal((await server.keys(callId)).length, 1);
    assert.equal((await readInput(db, callId, first)).message, large('other'));
    const second = await select();
    const small = { ...input, message: 'small' };
    await db.transaction().execute(async (tx) => {
      await tx
        .updateTable('run')
        .set({ input: JSON.stringify(small) })
        .where('execution_id', '=', callId)
        .execute();
      await replaceInput(tx, callId, undefined);
    });
    await remove();
    assert.deepEqual(await server.keys(callId), []);
    assert.deepEqual(await readInput(db, callId, second), small);
  });
});
