import { freeBytes } from './free-bytes.ts';

const FIRST_BYTES = 64 * 1024;
const SEGMENT_MAX_BYTES = 1024 * 1024;

/** Collects the chunks of a stream. */
type ByteCollector = {
  readonly length: number;
  /** Copies a chunk and frees it: nobody else may read it. */
  add(chunk: Uint8Array): void;
  /** Returns what was collected, in memory that `freeBytes` can free. Called once, after the last chunk. */
  take(): Buffer;
};

/**
 * Creates a collector for about as many bytes as `announced`, where that is known. What comes beyond is kept in segments and put
 * together once: a buffer that grows is copied each time, into memory that the system has to clear first.
 */
export function createByteCollector(announced = FIRST_BYTES): ByteCollector {
  const full: Buffer[] = [];
  let segment = Buffer.allocUnsafeSlow(announced);
  let used = 0;
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(chunk) {
      for (let from = 0; from < chunk.length; ) {
        if (used === segment.length) {
          full.push(segment);
          segment = Buffer.allocUnsafeSlow(Math.min(Math.max(length, FIRST_BYTES), SEGMENT_MAX_BYTES));
          used = 0;
        }
        const part = chunk.subarray(from, from + segment.length - used);
        segment.set(part, used);
        used += part.length;
        length += part.length;
        from += part.length;
      }
      freeBytes(chunk);
    },
    take() {
      if (full.length === 0 && used === segment.length) return segment;
      const whole = Buffer.allocUnsafeSlow(length);
      let at = 0;
      for (const part of [...full, segment.subarray(0, used)]) {
        whole.set(part, at);
        at += part.length;
        freeBytes(part);
      }
      freeBytes(segment);
      return whole;
    },
  };
}
