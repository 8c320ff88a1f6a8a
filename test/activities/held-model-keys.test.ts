import assert from 'node:assert/strict';
import { createHeldModelKeys, HELD_SHARE_BYTES } from '../../activities/held-model-keys.ts';

const MOST = { demo: 'k'.repeat(HELD_SHARE_BYTES - 1_000) };
const FEW = { demo: 'k'.repeat(100) };
const MANY = { demo: 'k'.repeat(2_000) };

describe('the model keys of requests that a process holds', () => {
  it('are bounded for each organization, in bytes: one too many is RATE_LIMITED until others are dropped', () => {
    const held = createHeldModelKeys();
    held.keep('one', 'first', MOST);
    held.requireRoom('one', 'second', FEW);
    assert.throws(() => held.requireRoom('one', 'second', MANY), { code: 'RATE_LIMITED' });
    held.requireRoom('one', 'first', MOST);
    held.requireRoom('other', 'second', MANY);
    held.drop('first');
    held.requireRoom('one', 'second', MANY);
  });

  it('count for their organization also when another process tells of them, however many', () => {
    const held = createHeldModelKeys();
    for (const callId of ['first', 'second']) held.keep('one', callId, MOST);
    assert.throws(() => held.requireRoom('one', 'third', FEW), { code: 'RATE_LIMITED' });
  });

  it('are bounded for all together: then those who hold more than an equal share are SERVICE_BUSY', () => {
    const held = createHeldModelKeys();
    for (const owner of ['a', 'b', 'c', 'd']) held.keep(owner, owner, MOST);
    held.keep('e', 'e', { demo: 'k'.repeat(10_000) });
    assert.throws(() => held.requireRoom('a', 'more', FEW), { code: 'SERVICE_BUSY' });
    held.requireRoom('e', 'more', FEW);
    held.requireRoom('newcomer', 'more', FEW);
    held.drop('b');
    held.requireRoom('a', 'more', FEW);
  });
});
