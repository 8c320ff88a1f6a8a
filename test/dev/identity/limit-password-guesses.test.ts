import assert from 'node:assert/strict';
import { limitPasswordGuesses } from '../../../dev/identity/interactions.ts';

describe('limitPasswordGuesses', () => {
  it('keeps the count of an email, however many other emails are tried', () => {
    const limit = limitPasswordGuesses();
    const guess = () => limit.allow('owner@weir.local');
    assert.deepEqual(Array.from({ length: 6 }, guess), [true, true, true, true, true, false]);
    for (let other = 0; other < 200_000; other++) limit.allow(`${other}@weir.local`);
    assert.equal(guess(), false);
  });

  it('resets the count after the right password', () => {
    const limit = limitPasswordGuesses();
    for (let guesses = 0; guesses < 5; guesses++) limit.allow('owner@weir.local');
    limit.forget('owner@weir.local');
    assert.equal(limit.allow('owner@weir.local'), true);
  });
});
