import assert from 'node:assert/strict';
import { createPlace } from '../../../platform/limits/place.ts';

const HOUR_MS = 3_600_000;

describe('a place', () => {
  it('ends by itself when its time is over', async () => {
    await new Promise<void>((resolve) => createPlace(resolve, 1));
    await new Promise<void>((resolve) => createPlace(resolve, HOUR_MS).holdFor(1));
  });

  it('has no more time once it has ended', async () => {
    let ends = 0;
    const place = createPlace(() => {
      ends += 1;
    }, 1);
    place.end();
    place.holdFor(1);
    await new Promise<void>((resolve) => createPlace(resolve, 20));
    assert.equal(ends, 1);
  });
});
