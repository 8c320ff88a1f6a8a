import assert from 'node:assert/strict';
import { codeReaderWhileInTime } from '../../../api/flows/read-code-of.ts';
import { RetryLater } from '../../../api/http/request-errors.ts';

describe('code that is read for a listing', () => {
  it('is left out once a turn does not come, for which no further one waits', async () => {
    let asked = 0;
    const readCode = async () => {
      asked += 1;
      if (asked === 2) throw new RetryLater('RATE_LIMITED', 'try again');
      return [{ named: ['a'] }];
    };
    const read = codeReaderWhileInTime({ largeValues: { readCode } } as never, 'acme');
    assert.deepEqual(await read(['return outputs.a']), [{ named: ['a'] }]);
    assert.deepEqual(await read(['x', 'y']), [{ named: [] }, { named: [] }]);
    assert.deepEqual(await read(['z']), [{ named: [] }]);
    assert.equal(asked, 2);
  });
});
