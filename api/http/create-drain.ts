import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Makes a function that closes the server and waits up to `drainMs` for its answers. It closes connections on which nothing was
 * asked, and refuses requests whose heads do not arrive within `headersMs`: a server that closes has Node.js do neither.
 */
export function createDrain(
  server: Server,
  headersMs: number,
  isAnswered: (socket: Socket) => boolean,
  refuseLate: (socket: Socket) => void,
): (drainMs: number) => Promise<void> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  return async function drain(drainMs) {
    const closed = once(server, 'close');
    server.close();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const late = setTimeout(() => {
      for (const socket of connections) if (!isAnswered(socket)) refuseLate(socket);
    }, headersMs);
    const over = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
    clearTimeout(over);
  };
}
