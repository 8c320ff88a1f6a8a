import assert from 'node:assert/strict';
import { errors } from 'jose';
import { createRefusedTokenLog } from '../../../api/auth/log-refused-token.ts';

describe('the log of refused tokens', () => {
  const original = console.error;
  let lines: unknown[] = [];
  beforeEach(() => {
    lines = [];
    console.error = (line: unknown) => lines.push(line);
  });
  afterEach(() => {
    console.error = original;
  });

  it('says why, and names the user of a token whose signature is valid', () => {
    const log = createRefusedTokenLog();
    log(new errors.JWTExpired('the token has expired', { sub: 'ann' }));
    log(new errors.JWSSignatureVerificationFailed());
    assert.deepEqual(lines, [
      'A token of "ann" was refused: the token has expired.',
      'A token was refused: signature verification failed.',
    ]);
  });

  it('has one line for many refusals of the same user for the same reason', () => {
    const log = createRefusedTokenLog();
    for (let i = 0; i < 5; i++) log(new errors.JWTExpired('the token has expired', { sub: 'ann' }));
    log(new errors.JWTExpired('the token has expired', { sub: 'bob' }));
    assert.equal(lines.length, 2);
  });
});
