import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { NoRoom } from '../../activities/attempts/no-room.ts';
import { createInspectValue } from '../../activities/values/inspect-value.ts';
import type { Db } from '../../db/connect.ts';
import { createLargeValues } from '../../platform/large-values/large-values.ts';
import { LARGE_BYTES } from '../../platform/limits/large-work.ts';
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

  it('has a turn at large work where the value is large; an attempt that may not wait throws NoRoom instead', async () => {
    const endTurn = await largeValues.work.take('other', LARGE_BYTES);
    assert.deepEqual(await look(LARGE_BYTES - 1, false), [1, 2, 3]);
    await assert.rejects(look(LARGE_BYTES, false), NoRoom);
    let hasLooked = false;
    const waiting = look(LARGE_BYTES, true).finally(() => {
      hasLooked = true;
    });
    await setImmediate();
    assert.equal(hasLooked, false);
    endTurn();
    assert.deepEqual(await waiting, [1, 2, 3]);
  });

  for (const mayWait of [true, false])
    it(`leaves its turn to others while the object store is awaited, ${mayWait ? '' : 'also '}where it may ${mayWait ? '' : 'not '}wait`, async () => {
      const asked = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<Buffer>();
      const objects = {
        get() {
          asked.resolve();
          return answer.promise;
        },
      };
      const inspectStored = createInspectValue({
        db: { objects, withoutPlugins: () => ({}) } as unknown as Db,
        largeValues,
        loadContext: async () => ({ organizationId: 'acme' }) as never,
        resolve: async (_callId, _value, from) => JSON.parse(String(await from?.objects?.get({} as never))),
      });
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        const attempt = { ...attemptOf(1), mayWait };
        const looking = inspectStored('call', { ref: 'list', bytes: LARGE_BYTES }, attempt, (json) => json);
        await asked.promise;
        // Less than the time after which a turn is given up.
        mock.timers.tick(900);
        const endTurn = largeValues.work.takeNow('other', LARGE_BYTES);
        assert(endTurn);
        let hasLooked = false;
        void looking.then(() => {
          hasLooked = true;
        });
        answer.resolve(Buffer.from('[1]'));
        await setImmediate();
        assert.equal(hasLooked, false);
        endTurn();
        mock.timers.tick(99);
        assert.deepEqual(await looking, [1]);
        mock.timers.tick(900);
      } finally {
        mock.timers.reset();
      }
    });
});
