// Sets a QuickJS back to its first state: all of it lies in its WebAssembly memory.

const PAGE_BYTES = 64 * 1024;
const EMPTY_PAGE = Buffer.alloc(PAGE_BYTES);

/**
 * Remembers the memory as it is. The function it returns restores it between two calls; it returns false, and changes
 * nothing, when the memory has grown.
 */
export function takeSnapshot(wasmMemory: WebAssembly.Memory): () => boolean {
  const { buffer } = wasmMemory;
  const memory = Buffer.from(buffer);
  let used = memory.length;
  while (used > 0 && EMPTY_PAGE.equals(memory.subarray(used - PAGE_BYTES, used))) used -= PAGE_BYTES;
  const content = Buffer.from(memory.subarray(0, used));
  return function restore() {
    if (wasmMemory.buffer !== buffer) return false;
    memory.set(content);
    // A page that was never written has no memory behind it; to write zeros to it would give it some.
    for (let at = used; at < memory.length; at += PAGE_BYTES) {
      const page = memory.subarray(at, at + PAGE_BYTES);
      if (!EMPTY_PAGE.equals(page)) page.fill(0);
    }
    return true;
  };
}
