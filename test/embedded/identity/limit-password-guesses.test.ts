import assert from 'node:assert/strict';
import { createGuessLimit } from '../../../embedded/identity/limit-password-guesses.ts';

describe('the limit of guesses at passwords', () => {
  it('does not forget an email while any number of others is guessed at', () => {
    const limit = createGuessLimit();
    const guess = () => limit.allow('owner@weir.local');
    assert.deepEqual(Array.from({ length: 6 }, guess), [true, true, true, true, true, false]);
    for (let other = 0; other < 200_000; other++) limit.allow(`${other}@weir.local`);
    assert.equal(guess(), false);
  });

  it('is forgotten by a right guess', () => {
    const limit = createGuessLimit();
    for (let guesses = 0; guesses < 5; guesses++) limit.allow('owner@weir.local');
    limit.forget('owner@weir.local');
    assert.equal(limit.allow('owner@weir.local'), true);
  });
});
