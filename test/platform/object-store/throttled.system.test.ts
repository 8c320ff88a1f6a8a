import assert from 'node:assert/strict';
import { ObjectStoreUnavailable } from '../../../platform/object-store/object-store.ts';
import { openObjectStore } from '../../../platform/object-store/open-object-store.ts';
import { code } from '../../blocks.ts';
import { startThrottlingProxy, type ThrottlingProxy } from '../../fakes/throttling-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const LARGE = 300_000;

describeWithS3('an object store that answers 503 SlowDown', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let proxy: ThrottlingProxy;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    server = await startS3Server();
    proxy = await startThrottlingProxy(server.url);
    weir = await startWeir({ env: { ...server.env, WEIR_OBJECT_STORE_ENDPOINT: proxy.url } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await proxy.close();
    await server.stop();
  });
  afterEach(() => proxy.refuse(0));
  const run = async (text: string) => {
    const flow = await weir.createFlow(tenant, [
      code('make', `return '${text}'.padEnd(${LARGE}, 'x');`),
      code('read', 'return input.length;'),
    ]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    assert.deepEqual([body.status, body.result], ['completed', LARGE], body.errorMessage);
    return { output: `${flow}/jobs/${body.executionId}/blocks/make/output`, executionId: body.executionId };
  };
  const hasObject = async (executionId: string) => (await server.keys(executionId)).length > 0;

  it('is asked again once, which its caller does not notice', async () => {
    // On a busy machine, an output may be kept in the database all the same.
    await waitUntil(async () => {
      proxy.refuse(1);
      const { executionId } = await run('once');
      return hasObject(executionId);
    });
  });

  it('makes reads over HTTP 503, without its words, until it answers', async () => {
    let made = await run('read');
    // On a busy machine, an output may have been kept in the database.
    while (!(await hasObject(made.executionId))) made = await run('read');
    const { output } = made;
    proxy.refuse(Number.POSITIVE_INFINITY);
    const refused = await weir.call('GET', output, { key: tenant.key });
    assert.deepEqual([refused.status, refused.body.detail.code], [503, 'OBJECT_STORE_UNAVAILABLE']);
    assert.doesNotMatch(JSON.stringify(refused.body), /SlowDown|127\.0\.0\.1/);
    proxy.refuse(0);
    assert.equal((await weir.call('GET', output, { key: tenant.key })).body, 'read'.padEnd(LARGE, 'x'));
  });

  it('gets no outputs, which are in the database then, and no run fails', async () => {
    proxy.refuse(Number.POSITIVE_INFINITY);
    const { output, executionId } = await run('written');
    assert.equal((await weir.call('GET', output, { key: tenant.key })).body, 'written'.padEnd(LARGE, 'x'));
    assert.equal(await hasObject(executionId), false);
  });

  it('leaves deletions to the next time', async () => {
    const store = await openObjectStore(weir.config.objectStore);
    assert.ok(store);
    const [key = ''] = await server.keys();
    const location = store.locate(key.replace(/^runs\//, ''));
    proxy.refuse(Number.POSITIVE_INFINITY);
    await assert.rejects(store.remove([location]), ObjectStoreUnavailable);
    proxy.refuse(0);
    assert.deepEqual(await store.remove([location]), [location]);
    assert.ok(!(await server.keys()).includes(key));
    store.close();
  });
});
