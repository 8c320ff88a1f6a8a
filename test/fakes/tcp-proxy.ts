// A proxy between a client and a server that goes silent or away when told.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  /** The target's URL with this proxy's address. */
  url: string;
  /** Lets nothing through any more, on new connections either, and tells nobody. */
  silence(): void;
  /** Does so once the server has answered so many bytes more, on all connections together. */
  silenceAfter(bytes: number): void;
  /** Lets nothing through on new connections; those that are open go on. */
  stall(): void;
  /** Cuts all connections, and resets new ones until `restore`. */
  cut(): void;
  /** Cuts all connections, and refuses new ones until `restore`. */
  refuse(): Promise<void>;
  restore(): Promise<void>;
  /** How many connections were made so far. */
  connections(): number;
  close(): Promise<void>;
};

/** Starts a proxy of the server in `target`, a URL with a port. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'silent' | 'cut' = 'open';
  let connections = 0;
  let left = Number.POSITIVE_INFINITY;
  const server = createServer((near) => {
    connections += 1;
    track(near);
    if (state === 'cut') return void near.resetAndDestroy();
    if (state === 'silent') return void near.pause();
    const far = track(connect(Number(port), hostname));
    near.pipe(far).pipe(near);
    far.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left < 0) silence();
    });
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  await listen(0);
  const { port: here } = server.address() as AddressInfo;

  async function listen(at: number): Promise<void> {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  }
  function track(socket: Socket): Socket {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket.on('error', () => undefined);
  }
  function silence(): void {
    state = 'silent';
    for (const socket of sockets) socket.unpipe().pause();
  }
  function cut(): void {
    state = 'cut';
    for (const socket of sockets) socket.destroy();
  }
  async function refuse(): Promise<void> {
    server.close();
    cut();
    await once(server, 'close');
  }
  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${here}` }).href,
    silence,
    silenceAfter(bytes) {
      left = bytes;
    },
    stall() {
      state = 'silent';
    },
    cut,
    refuse,
    async restore() {
      cut();
      state = 'open';
      left = Number.POSITIVE_INFINITY;
      if (!server.listening) await listen(here);
    },
    connections: () => connections,
    async close() {
      if (server.listening) await refuse();
    },
  };
}
