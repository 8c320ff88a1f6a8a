import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { listen, type NotificationListener } from '../../db/listen.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('a listening connection that dies silently', () => {
  let database: TestDatabase;
  let proxy: Server;
  let url: string;
  const sockets = new Set<Socket>();
  before(async () => {
    database = await createTestDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
      near.pipe(far).pipe(near);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    url = Object.assign(new URL(database.url), { port: (proxy.address() as AddressInfo).port }).href;
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });
  after(async () => {
    proxy.close();
    await database.drop();
  });

  /** Nothing gets through any more, and nobody is told. */
  function silence(): void {
    for (const socket of sockets) socket.unpipe().pause();
  }

  async function start(): Promise<{
    listener: NotificationListener;
    heard: string[];
    opened: () => Promise<void>;
  }> {
    const heard: string[] = [];
    const openings: (() => void)[] = [];
    const opened = () => new Promise<void>((resolve) => void openings.push(resolve));
    const first = opened();
    const listener = listen(
      url,
      'weir_test',
      (payload) => heard.push(payload),
      () => openings.shift()?.(),
    );
    await first;
    return { listener, heard, opened };
  }

  it('is replaced by one that listens', async () => {
    const { listener, heard, opened } = await start();
    const again = opened();
    silence();
    await again;
    // Again and again: on a slow machine that connection may be replaced, too.
    while (heard.length === 0) {
      await sql`select pg_notify('weir_test', 'news')`.execute(database.db);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(heard[0], 'news');
    await listener.close();
  });

  it('can be closed without waiting for it', async () => {
    const { listener } = await start();
    silence();
    await listener.close();
  });
});
