// Sets a QuickJS back to its first state: all of it lies in its WebAssembly memory.
import type { QuickJSContext } from 'quickjs-emscripten-core';

const PAGE_BYTES = 64 * 1024;
/**
 * Taken up for good, so that a call that needs much memory has to grow it, which can be seen; what a call can touch
 * without growing is then little enough to be wiped in a fraction of a millisecond.
 */
const BALLAST_BYTES = 13 * 1024 * 1024;
const BALLAST_BYTE = 0xff;

/**
 * Remembers the memory of `context` as it is. The function it answers restores it between two calls: false, and nothing
 * done, when the memory has grown.
 */
export function takeSnapshot(wasmMemory: WebAssembly.Memory, context: QuickJSContext): () => boolean {
  context.newArrayBuffer(new Uint8Array(BALLAST_BYTES).fill(BALLAST_BYTE).buffer);
  const { buffer } = wasmMemory;
  const memory = new Uint8Array(buffer);
  const pages: { start: number; content: Uint8Array | undefined }[] = [];
  for (let start = 0; start < memory.length; start += PAGE_BYTES) {
    const page = memory.subarray(start, start + PAGE_BYTES);
    if (page.every((byte) => byte === BALLAST_BYTE)) continue;
    pages.push({ start, content: page.some((byte) => byte !== 0) ? page.slice() : undefined });
  }
  return function restore() {
    if (wasmMemory.buffer !== buffer) return false;
    for (const { start, content } of pages) {
      if (content) memory.set(content, start);
      else memory.fill(0, start, start + PAGE_BYTES);
    }
    return true;
  };
}
