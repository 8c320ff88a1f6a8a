// A way to a TCP server that can be shut: to whoever comes through it, the server is away then.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Gate = {
  /** `url` by way of the gate. */
  through(url: string): string;
  /** Cuts the connections there are, and refuses others. */
  shut(): Promise<void>;
  open(): Promise<void>;
};

/** A gate, open, to the server that `url` names. The caller shuts it in the end. */
export async function startGate(url: string): Promise<Gate> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: here } = server.address() as AddressInfo;
  return {
    through(target) {
      const by = new URL(target);
      by.hostname = '127.0.0.1';
      by.port = String(here);
      return by.href;
    },
    async shut() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
    async open() {
      server.listen(here, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
