import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection is closed after so many looks without progress: half a minute. */
const LOOKS_MAX = 6;
/** A reader has to take at least this much within them: 8 KB a second. */
const PROGRESS_BYTES = 256 * 1024;

/**
 * Closes connections whose readers do not read, because unread answers are held in memory. Looks at the `open` answers every
 * `lookMs`.
 */
export function closeUnreadConnections(server: Server, open: Set<ServerResponse>, lookMs: number): void {
  /** For each answer with unread bytes: the bytes taken when its reader last made progress, and the looks since. */
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
      // Counted in looks, not in time: a process that was busy for long has not seen what was read meanwhile.
      else if (++known.looks >= LOOKS_MAX) socket.destroy();
    }
  }

  const timer = setInterval(look, lookMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** The bytes that the reader has not taken yet. Node.js counts a write until all of it is gone; its handle knows better. */
function waitingBytes(socket: Socket & { _handle?: { writeQueueSize?: number } }): number {
  if (socket.writableLength === 0) return 0;
  return socket._handle?.writeQueueSize ?? socket.writableLength;
}
