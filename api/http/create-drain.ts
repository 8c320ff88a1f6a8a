import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

export type Drain = {
  /** Closes the server and waits up to `drainMs` for open responses. Closes unused connections at once. */
  drain(drainMs: number): Promise<void>;
  /** Closes connections without open responses while the server drains. Call it whenever a response closes. */
  closed(): void;
};

/** Creates the drain of a server with these `open` responses. */
export function createDrain(server: Server, open: Set<ServerResponse>): Drain {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  let isDraining = false;

  /** Node.js takes a connection for idle when the response has ended, though most of it may not be sent yet. */
  function closeIdle(): void {
    const isSending = [...open].some((answer) => answer.writableEnded && !answer.writableFinished);
    if (!isSending) server.closeIdleConnections();
  }

  return {
    async drain(drainMs) {
      isDraining = true;
      const closed = once(server, 'close');
      // The HTTP server's own `close` would close those connections and stop the check for late requests.
      NetServer.prototype.close.call(server);
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      closeIdle();
      const over = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(over);
      // Stops the check for late requests.
      server.close();
    },
    closed() {
      if (isDraining) setImmediate(closeIdle);
    },
  };
}
