import assert from 'node:assert/strict';
import { createPresence } from '../../../platform/limits/presence.ts';

describe('presence', () => {
  it('lasts 10 s from when an owner was last seen', () => {
    let now = 50_000;
    const presence = createPresence(() => now);
    assert.ok(!presence.areOthers('a'));
    presence.note('a');
    assert.deepEqual([presence.areOthers('a'), presence.areOthers('b')], [false, true]);
    now += 6_000;
    presence.note('b');
    presence.note('a');
    now += 9_999;
    assert.ok(presence.areOthers('a'));
    now += 1;
    assert.deepEqual([presence.areOthers('a'), presence.areOthers('b')], [false, false]);
  });
});
