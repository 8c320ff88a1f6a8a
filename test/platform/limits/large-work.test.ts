import assert from 'node:assert/strict';
import { restAfter } from '../../../platform/limits/large-work.ts';
import { createPresence } from '../../../platform/limits/presence.ts';

describe('large work', () => {
  it('rests three times as long while others are present, longer by 250 ms at most', () => {
    const presence = createPresence();
    presence.note('a');
    assert.equal(restAfter(20, 'a', presence), 20);
    assert.equal(restAfter(20, 'b', presence), 60);
    assert.equal(restAfter(1_000, 'b', presence), 1_250);
  });
});
