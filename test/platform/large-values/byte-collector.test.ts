import assert from 'node:assert/strict';
import { createByteCollector } from '../../../platform/large-values/byte-collector.ts';
import { freeBytes } from '../../../platform/large-values/free-bytes.ts';

const CHUNK_BYTES = 100_000;

function makeChunks(): Buffer[] {
  return ['a', 'b', 'c'].map((letter) => Buffer.alloc(CHUNK_BYTES, letter));
}

describe('createByteCollector', () => {
  for (const announced of [undefined, 0, 1, 3 * CHUNK_BYTES, 5 * CHUNK_BYTES])
    it(`collects chunks in their order when ${announced ?? 'no'} bytes were announced`, () => {
      const collector = createByteCollector(announced);
      assert.equal(collector.length, 0);
      for (const chunk of makeChunks()) collector.add(chunk);
      assert.equal(collector.length, 3 * CHUNK_BYTES);
      assert.ok(collector.take().equals(Buffer.concat(makeChunks())));
    });

  it('frees each chunk, and leaves one that shares its memory as it is', () => {
    const collector = createByteCollector();
    const [own] = makeChunks() as [Buffer];
    const whole = Buffer.allocUnsafeSlow(2 * CHUNK_BYTES);
    collector.add(own);
    collector.add(whole.subarray(0, CHUNK_BYTES));
    assert.equal(own.length, 0);
    assert.equal(whole.length, 2 * CHUNK_BYTES);
  });

  it('puts many segments together', () => {
    const collector = createByteCollector();
    const size = 3_500_000;
    collector.add(Buffer.alloc(size, 'x'));
    collector.add(Buffer.from('end'));
    assert.equal(collector.length, size + 3);
    assert.ok(collector.take().equals(Buffer.concat([Buffer.alloc(size, 'x'), Buffer.from('end')])));
  });

  it('collects nothing', () => {
    assert.equal(createByteCollector().take().length, 0);
    assert.equal(createByteCollector(0).take().length, 0);
  });
});

describe('freeBytes', () => {
  it('frees bytes once', () => {
    const bytes = createByteCollector(CHUNK_BYTES).take();
    freeBytes(bytes);
    assert.equal(bytes.length, 0);
    freeBytes(bytes);
  });

  it('leaves shared memory as it is', () => {
    const shared = Buffer.from(new SharedArrayBuffer(8));
    freeBytes(shared);
    assert.equal(shared.length, 8);
  });
});
