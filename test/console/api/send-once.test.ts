import assert from 'node:assert/strict';
import { ApiError, unreachable } from '../../../console/api/api-error.ts';
import { sendOnce } from '../../../console/api/send-once.ts';

const REFUSED = new ApiError(422, { code: 'VALIDATION_ERROR', message: 'no' });

/** Sends `what` to a service that fails with these errors, then succeeds; records the keys. */
function sendTo(what: string, errors: Error[]) {
  const keys: string[] = [];
  const send = () =>
    sendOnce(
      what,
      async (key) => {
        keys.push(key);
        const error = errors.shift();
        if (error) throw error;
        return 'started';
      },
      0,
    );
  return { keys, send };
}

describe('a request that starts a run', () => {
  it('is repeated with the same key when no response comes', async () => {
    const { keys, send } = sendTo('repeated', [unreachable('POST'), unreachable('POST')]);
    assert.equal(await send(), 'started');
    assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
  });

  it('keeps its key afterwards, and says that the run may have started', async () => {
    const { keys, send } = sendTo('unanswered', Array(3).fill(unreachable('POST')));
    await assert.rejects(send, /the run may have started/);
    await send();
    assert.deepEqual([keys.length, new Set(keys).size], [4, 1]);
  });

  it('has a new key after a response', async () => {
    const { keys, send } = sendTo('answered', [REFUSED]);
    await assert.rejects(send, REFUSED);
    await send();
    await send();
    assert.equal(new Set(keys).size, 3);
  });
});
