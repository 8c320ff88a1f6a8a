import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import {
  hashOf,
  type ObjectStore,
  ObjectStoreUnavailable,
} from '../../../platform/object-store/object-store.ts';
import { createS3Store, PUT_MAX_MS } from '../../../platform/object-store/s3-store.ts';
import { waitUntil } from '../../wait-until.ts';

const MANY = 65;

describe('writes of one organization to a slow store', () => {
  let server: Server;
  let held: number;
  let store: ObjectStore;
  before(async () => {
    // Answers no write of the organization `greedy`, and every other.
    server = createServer((request, response) => {
      request.resume();
      if (request.url?.includes('greedy')) held += 1;
      else response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    held = 0;
    store = createS3Store({
      ...{ bucket: 'outputs', prefix: '', region: 'us-east-1', pathStyle: true, minBytes: 1 },
      ...{ publicEndpoint: undefined, encryption: undefined },
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'weir', secretAccessKey: 'secret' },
    });
  });
  afterEach(() => {
    mock.restoreAll();
    store.close();
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function put(organization: string): Promise<void> {
    const bytes = Buffer.from('"x"') as Buffer<ArrayBuffer>;
    const location = store.locate(`${organization}/call/name`);
    await store.put({ location, bytes: 3, sha256: await hashOf(bytes) }, bytes);
  }

  it('hold up nobody else’s writes, and are given up in time', async () => {
    const times: number[] = [];
    const late = new AbortController();
    mock.method(AbortSignal, 'timeout', (ms: number) => {
      times.push(ms);
      return late.signal;
    });
    const greedy = Array.from({ length: MANY }, () => put('greedy'));
    const ends = Promise.allSettled(greedy);
    await waitUntil(() => held === MANY);
    await put('modest');
    assert.deepEqual(times, Array(MANY + 1).fill(PUT_MAX_MS));
    late.abort();
    for (const end of await ends)
      assert(end.status === 'rejected' && end.reason instanceof ObjectStoreUnavailable);
    mock.restoreAll();
    await put('modest');
  });
});
