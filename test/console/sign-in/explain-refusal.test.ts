import assert from 'node:assert/strict';
import { explainRefusal, isBusy } from '../../../console/sign-in/sign-in-error.ts';

describe('a refusal of the identity provider', () => {
  it('is a sentence that says what to do', () => {
    assert.equal(explainRefusal('access_denied', 'x'), 'The sign-in was refused or cancelled.');
    assert.match(
      explainRefusal('invalid_target'),
      /Ask the operator of this Weir service to register WEIR_OIDC_AUDIENCE there/,
    );
    assert.match(explainRefusal('invalid_client'), /to check WEIR_CONSOLE_CLIENT_ID/);
  });

  it('that is unknown quotes the provider in one sentence', () => {
    const said =
      'The identity provider refused the sign-in: odd_error, it is odd. Tell the operator of this service if it happens again.';
    assert.equal(explainRefusal('odd_error', 'it is odd.. '), said);
    assert.match(explainRefusal('odd_error', null), /sign-in: odd_error\. Tell/);
    assert.match(explainRefusal('constructor'), /sign-in: constructor\. Tell/);
  });

  it('ends a session unless it is temporary', () => {
    const busy = ['server_error', 'temporarily_unavailable'].map((error) => ({ status: 400, error }));
    assert.ok([...busy, { status: 429, error: 'too_many_requests' }].every(isBusy));
    for (const error of ['invalid_grant', 'invalid_client', 'interaction_required'])
      assert.equal(isBusy({ status: 400, error }), false, error);
  });
});
