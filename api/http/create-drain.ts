import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

export type Drain = {
  /** Closes the server and waits up to `drainMs` for its answers. Connections on which nothing was asked are closed at once. */
  drain(drainMs: number): Promise<void>;
  /** Has connections closed that have nothing left to answer, once the server drains; to be called whenever an answer closes. */
  closed(): void;
};

/** Makes what closes the server, which has these `open` answers. */
export function createDrain(server: Server, open: Set<ServerResponse>): Drain {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  let isDraining = false;

  /** Node.js takes for idle a connection whose answer has ended, though most of a large one may still have to be sent. */
  function closeIdle(): void {
    const isSending = [...open].some((answer) => answer.writableEnded && !answer.writableFinished);
    if (!isSending) server.closeIdleConnections();
  }

  return {
    async drain(drainMs) {
      isDraining = true;
      const closed = once(server, 'close');
      // That of an HTTP server closes all that it takes for idle, and looks no more for requests that arrive late.
      NetServer.prototype.close.call(server);
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      closeIdle();
      const over = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(over);
      // Ends the look for late requests.
      server.close();
    },
    closed() {
      if (isDraining) setImmediate(closeIdle);
    },
  };
}
