// Sets a QuickJS back to its first state: all of it lies in its WebAssembly memory.

const SNAPSHOT_PAGE_BYTES = 64 * 1024;
const EMPTY_PAGE = Buffer.alloc(SNAPSHOT_PAGE_BYTES);

/**
 * Remembers the memory as it is. The function it returns restores it between two calls; it returns false, and changes
 * nothing, when the memory has grown.
 */
export function takeSnapshot(wasmMemory: WebAssembly.Memory): () => boolean {
  const { buffer } = wasmMemory;
  const pages = Array.from({ length: buffer.byteLength / SNAPSHOT_PAGE_BYTES }, (_, index) => {
    const page = Buffer.from(buffer, index * SNAPSHOT_PAGE_BYTES, SNAPSHOT_PAGE_BYTES);
    return { page, content: EMPTY_PAGE.equals(page) ? undefined : Buffer.from(page) };
  });
  return function restore() {
    if (wasmMemory.buffer !== buffer) return false;
    for (const { page, content } of pages) {
      if (content) page.set(content);
      // A page that was never written, as most of the stack, has no memory behind it; to write zeros would give it some.
      else if (!EMPTY_PAGE.equals(page)) page.fill(0);
    }
    return true;
  };
}
