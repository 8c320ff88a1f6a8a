// Stands between a client and a server, and goes silent or away when told.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  /** `url` with this proxy's address. */
  url: string;
  /** Nothing gets through any more, on new connections neither, and nobody is told. */
  silence(): void;
  /** Connections are cut, and new ones reset until `restore`. */
  cut(): void;
  restore(): void;
  /** How many connections were made so far. */
  connections(): number;
  close(): Promise<void>;
};

/** A proxy of the server in `target`, a URL with a port. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'silent' | 'cut' = 'open';
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    track(near);
    if (state === 'cut') return void near.resetAndDestroy();
    if (state === 'silent') return void near.pause();
    const far = track(connect(Number(port), hostname));
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  function track(socket: Socket): Socket {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket.on('error', () => undefined);
  }
  function cut(): void {
    state = 'cut';
    for (const socket of sockets) socket.destroy();
  }
  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    silence() {
      state = 'silent';
      for (const socket of sockets) socket.unpipe().pause();
    },
    cut,
    restore() {
      cut();
      state = 'open';
    },
    connections: () => connections,
    async close() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
