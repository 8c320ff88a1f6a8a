import assert from 'node:assert/strict';
import { cut } from '../../../api/runs/event-stream.ts';

describe('the pieces of an event', () => {
  for (const before of ['', 'x', 'xx'])
    it(`keep the halves of characters together, ${before.length} before the first`, () => {
      const text = before + '\u{1F30A}'.repeat(100_000);
      const pieces = [...cut(text)].map((piece) => Buffer.from(piece));
      assert(pieces.length > 2);
      assert.equal(Buffer.concat(pieces).toString(), text);
    });
});
