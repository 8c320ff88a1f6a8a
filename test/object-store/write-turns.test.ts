import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashOf } from '../../object-store/hash-of.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '../../object-store/object-store.ts';
import { createS3Store } from '../../object-store/s3-store.ts';

/** More than the store writes at a time for one organization. */
const MANY = 33;

describe('writes of one organization', () => {
  let server: Server;
  let store: ObjectStore;
  before(async () => {
    // Answers no write of the organization `greedy`, and every other.
    server = createServer((request, response) => {
      request.resume();
      if (!request.url?.includes('greedy')) response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    store = createS3Store({
      ...{ bucket: 'outputs', prefix: '', region: 'us-east-1', pathStyle: true, minBytes: 1 },
      ...{ publicEndpoint: undefined, encryption: undefined },
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'weir', secretAccessKey: 'secret' },
    });
  });
  after(() => store.close());

  async function put(owner: string): Promise<void> {
    const bytes = Buffer.from('"x"') as Buffer<ArrayBuffer>;
    const object = { location: store.locate(`${owner}/call/name`), bytes: 3, sha256: await hashOf(bytes) };
    await store.put(owner, object, bytes);
  }

  it('keep those of others out of the store neither while they wait for their turn nor after they gave up', async () => {
    const greedy = Array.from({ length: MANY }, () => put('greedy'));
    await assert.rejects(Promise.race(greedy), ObjectStoreUnavailable);
    await put('modest');
    server.close();
    server.closeAllConnections();
    await Promise.allSettled(greedy);
  });
});
