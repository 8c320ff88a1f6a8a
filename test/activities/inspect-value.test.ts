import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createInspectValue } from '../../activities/inspect-value.ts';
import type { Db } from '../../db/connect.ts';
import { LARGE_BYTES } from '../../fairness/large-work.ts';
import { BUSY } from '../../flow/run.ts';
import { createLargeValues } from '../../large-values/large-values.ts';
import { attemptOf } from './attempt-of.ts';

describe('a look into a value of a run', () => {
  const largeValues = createLargeValues();
  after(() => largeValues.close());
  const inspect = createInspectValue({
    db: {} as Db,
    largeValues,
    loadContext: async () => ({ organizationId: 'acme' }) as never,
    resolve: async () => [1, 2, 3],
  });
  const look = (bytes: number, mayWait: boolean) =>
    inspect('call', { ref: 'list', bytes }, { ...attemptOf(1), mayWait }, (json) => json);

  it('has a turn at large work where the value is large; an attempt that may not wait is busy instead', async () => {
    const endTurn = await largeValues.work.take('other', LARGE_BYTES);
    assert.deepEqual(await look(LARGE_BYTES - 1, false), [1, 2, 3]);
    assert.equal(await look(LARGE_BYTES, false), BUSY);
    let hasLooked = false;
    const waiting = look(LARGE_BYTES, true).finally(() => {
      hasLooked = true;
    });
    await setImmediate();
    assert.equal(hasLooked, false);
    endTurn();
    assert.deepEqual(await waiting, [1, 2, 3]);
  });
});
