/**
 * Frees the memory of bytes that nobody reads any more, where they are all of their buffer; afterwards they are empty. Left to
 * the garbage collector, every 64 MiB of buffers, however short their lives, cost a collection of the whole heap.
 *
 * Bytes that were written to a socket are read until the write has ended.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && buffer.byteLength === byteLength) buffer.transfer(0);
}
