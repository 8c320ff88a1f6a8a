import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SMALL_BYTES } from '../../platform/limits/byte-budget.ts';

/** A connection is closed after so many looks without progress: half a minute. */
const LOOKS_MAX = 6;
/** A reader has to take at least this much within them: 8 KB a second. */
export const PROGRESS_BYTES = 256 * 1024;
/** While others wait for the memory of answers, at least this much: 70 KB a second. */
const CROWDED_PROGRESS_BYTES = 2 * 1024 * 1024;

/**
 * Closes connections whose readers do not read, because unread answers are held in memory. Looks at the `open` answers every
 * `lookMs`. While `isCrowded`, readers of large answers have to read faster.
 */
export function closeUnreadConnections(
  server: Server,
  open: Set<ServerResponse>,
  lookMs: number,
  isCrowded: () => boolean,
): void {
  /** For each answer with unread bytes: the bytes taken when its reader last made progress, and the looks since. */
  const waiting = new WeakMap<ServerResponse, { taken: number; looks: number }>();

  function look(): void {
    const crowded = isCrowded();
    for (const response of open) {
      const { socket } = response;
      const left = socket ? waitingBytes(socket) : 0;
      if (!socket || left === 0) {
        waiting.delete(response);
        continue;
      }
      const taken = socket.bytesWritten - left;
      const known = waiting.get(response);
      const least = crowded && left >= SMALL_BYTES ? CROWDED_PROGRESS_BYTES : PROGRESS_BYTES;
      if (!known || taken - known.taken >= least) waiting.set(response, { taken, looks: 0 });
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
