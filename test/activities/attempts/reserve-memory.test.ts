import assert from 'node:assert/strict';
import { NoRoom } from '../../../activities/attempts/no-room.ts';
import { type ActivityMemory, reserveInputMemory } from '../../../activities/attempts/reserve-memory.ts';
import { enforceSchema } from '../../../activities/values/enforce-schema.ts';
import { ACTIVITIES_SHARE_BYTES, createLargeValues } from '../../../platform/large-values/large-values.ts';

describe('an activity that holds an input', () => {
  const { signal } = new AbortController();
  const largeValues = createLargeValues();
  const work = <T>(mayWait: boolean, work: (memory: ActivityMemory) => Promise<T>) =>
    reserveInputMemory(largeValues, 'acme', ACTIVITIES_SHARE_BYTES, { mayWait, signal }, work);

  it('gives its memory back when it drops the input, once', async () => {
    await work(false, async ({ giveBackInput }) => {
      await assert.rejects(
        work(false, async () => 'inner'),
        NoRoom,
      );
      giveBackInput();
      assert.equal(await work(false, async () => 'inner'), 'inner');
    });
    assert.equal(await work(false, async () => 'next'), 'next');
  });

  it('throws NoRoom, and gives its memory back, where its schema would have to wait and it may not', async () => {
    const validator = { validate: async () => [], validateBriefly: async () => undefined };
    const check = (mayWait: boolean) =>
      work(mayWait, () => enforceSchema(validator, 'input', { type: 'string' }, 'x', { mayWait }));
    await check(true);
    await assert.rejects(check(false), NoRoom);
    assert.equal(await work(false, async () => 'next'), 'next');
  });
});
