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
import { createS3Store } from '../../../platform/object-store/s3-store.ts';

/** More than the store writes at a time for one organization. */
const MANY = 33;
/** More than may write and wait for that together. */
const TOO_MANY = 65;

describe('writes of one organization', () => {
  let server: Server;
  let isSlow: boolean;
  let store: ObjectStore;
  before(async () => {
    // Answers no write of the organization `greedy` while it is slow, and every other.
    server = createServer((request, response) => {
      request.resume();
      if (!isSlow || !request.url?.includes('greedy')) response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    isSlow = true;
    store = createS3Store({
      ...{ bucket: 'outputs', prefix: '', region: 'us-east-1', pathStyle: true, minBytes: 1 },
      ...{ publicEndpoint: undefined, encryption: undefined },
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'weir', secretAccessKey: 'secret' },
    });
  });
  afterEach(() => store.close());
  after(() => server.close());

  async function put(owner: string): Promise<void> {
    const bytes = Buffer.from('"x"') as Buffer<ArrayBuffer>;
    const object = { location: store.locate(`${owner}/call/name`), bytes: 3, sha256: await hashOf(bytes) };
    await store.put(owner, object, bytes);
  }

  it('keep those of others out of the store neither while they wait for their turn nor after they gave up', async () => {
    const greedy = Array.from({ length: MANY }, () => put('greedy'));
    await assert.rejects(Promise.race(greedy), ObjectStoreUnavailable);
    await put('modest');
    isSlow = false;
    server.closeAllConnections();
    await Promise.allSettled(greedy);
  });

  it('are refused at once when many wait already: each may hold up a workflow task, and a slow store would hold all', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const patience = mock.method(AbortSignal, 'timeout', () => new AbortController().signal);
    let greedy: Promise<void>[] = [];
    try {
      greedy = Array.from({ length: TOO_MANY }, () => put('greedy'));
      await assert.rejects(Promise.race(greedy), ObjectStoreUnavailable);
      await put('modest');
    } finally {
      patience.mock.restore();
      mock.timers.reset();
      isSlow = false;
      server.closeAllConnections();
      await Promise.allSettled(greedy);
    }
  });
});
