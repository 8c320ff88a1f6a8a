import assert from 'node:assert/strict';
import { errors } from 'jose';
import { createRefusedTokenLog } from '../../../api/auth/verify-token.ts';
import { captureLog } from '../../capture-log.ts';

describe('the log of refused tokens', () => {
  let captured: ReturnType<typeof captureLog>;
  beforeEach(() => {
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  it('says why, and names the user of a token whose signature is valid', () => {
    const log = createRefusedTokenLog();
    log(new errors.JWTExpired('the token has expired', { sub: 'ann' }));
    log(new errors.JWSSignatureVerificationFailed());
    assert.deepEqual(
      captured.lines.map(({ msg, user_id, reason }) => [msg, user_id, reason]),
      [
        ['A token was refused.', 'ann', 'the token has expired'],
        ['A token was refused.', undefined, 'signature verification failed'],
      ],
    );
  });

  it('has one line for many refusals of the same user for the same reason', () => {
    const log = createRefusedTokenLog();
    for (let i = 0; i < 5; i++) log(new errors.JWTExpired('the token has expired', { sub: 'ann' }));
    log(new errors.JWTExpired('the token has expired', { sub: 'bob' }));
    assert.equal(captured.lines.length, 2);
  });
});
