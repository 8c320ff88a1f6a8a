import assert from 'node:assert/strict';
import { takeSnapshot } from '../../../activities/code/machine.ts';

const PAGE_BYTES = 64 * 1024;

describe('the snapshot of a WebAssembly memory', () => {
  /** A memory of three pages, of which only the second has content. */
  function begin() {
    const wasmMemory = new WebAssembly.Memory({ initial: 3, maximum: 4 });
    const memory = Buffer.from(wasmMemory.buffer);
    memory[PAGE_BYTES + 7] = 1;
    return { wasmMemory, memory, restore: takeSnapshot(wasmMemory) };
  }

  it('brings every byte back, in pages with content and in empty ones', () => {
    const { memory, restore } = begin();
    const before = Buffer.from(memory);
    memory.fill(9);
    assert.equal(restore(), true);
    assert(memory.equals(before));
  });

  it('is no longer to be had once the memory has grown', () => {
    const { wasmMemory, restore } = begin();
    wasmMemory.grow(1);
    assert.equal(restore(), false);
  });
});
