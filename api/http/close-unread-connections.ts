import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Looks without progress after which a connection is closed: half a minute. */
const LOOKS_MAX = 6;
/** What a reader takes at least within them, while there is something to take: 8 KB a second. */
const PROGRESS_BYTES = 256 * 1024;

/** Closes connections of readers who do not read: what waits for them is held in memory. Looks at `open` each `lookMs`. */
export function closeUnreadConnections(server: Server, open: Set<ServerResponse>, lookMs: number): void {
  /** By answer that has something waiting: how much was taken when its reader had last gone on, and the looks since. */
  const waiting = new WeakMap<ServerResponse, { taken: number; looks: number }>();

  function look(): void {
    for (const response of open) {
      const { socket } = response;
      const left = socket ? waitingBytes(socket) : 0;
      if (!socket || left === 0) {
        waiting.delete(response);
        continue;
      }
      const taken = socket.bytesWritten - left;
      const known = waiting.get(response);
      if (!known || taken - known.taken >= PROGRESS_BYTES) waiting.set(response, { taken, looks: 0 });
      // Looks, not time: a process that was busy for long has not seen what was read meanwhile.
      else if (++known.looks >= LOOKS_MAX) socket.destroy();
    }
  }

  const timer = setInterval(look, lookMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** What the other side has not taken yet. Node.js counts a write until all of it is gone; its handle knows how far it is. */
function waitingBytes(socket: Socket & { _handle?: { writeQueueSize?: number } }): number {
  if (socket.writableLength === 0) return 0;
  return socket._handle?.writeQueueSize ?? socket.writableLength;
}
