import { freeBytes } from './free-bytes.ts';

const FIRST_BYTES = 64 * 1024;

/** Collects the chunks of a stream. */
export type ByteCollector = {
  readonly length: number;
  /** Copies a chunk and frees it: nobody else may read it. */
  add(chunk: Uint8Array): void;
  /** Returns what was collected, in memory that `freeBytes` can free. The collector is empty then. */
  take(): Buffer;
};

/** Creates a collector for about as many bytes as `announced`, where that is known. */
export function createByteCollector(announced = FIRST_BYTES): ByteCollector {
  let bytes = Buffer.allocUnsafeSlow(announced);
  let length = 0;
  const resize = (to: number) => {
    bytes = Buffer.from(bytes.buffer.transfer(to));
  };
  return {
    get length() {
      return length;
    },
    add(chunk) {
      if (length + chunk.length > bytes.length) resize(Math.max(2 * bytes.length, length + chunk.length));
      bytes.set(chunk, length);
      length += chunk.length;
      freeBytes(chunk);
    },
    take() {
      if (length < bytes.length) resize(length);
      length = 0;
      return bytes;
    },
  };
}
