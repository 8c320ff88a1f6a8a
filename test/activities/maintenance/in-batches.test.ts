import assert from 'node:assert/strict';
import { inBatches } from '../../../activities/maintenance/in-batches.ts';

describe('work in batches', () => {
  it('goes on until nothing is left', async () => {
    let left = 3;
    await inBatches(new AbortController().signal, async () => {
      left -= 1;
      return left > 0;
    });
    assert.equal(left, 0);
  });

  it('begins no batch after it was told to stop, and ends as stopped', async () => {
    const stopping = new AbortController();
    let begun = 0;
    const working = inBatches(stopping.signal, async () => {
      begun += 1;
      if (begun === 2) stopping.abort(new Error('The worker stops'));
      return true;
    });
    await assert.rejects(working, /The worker stops/);
    assert.equal(begun, 2);
  });

  it('ends as done when its last batch was done before it could stop', async () => {
    const stopping = new AbortController();
    await inBatches(stopping.signal, async () => {
      stopping.abort();
      return false;
    });
  });
});
