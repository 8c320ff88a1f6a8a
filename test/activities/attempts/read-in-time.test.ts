import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { NoRoom } from '../../../activities/attempts/no-room.ts';
import { readInTime } from '../../../activities/attempts/read-in-time.ts';
import type { Db } from '../../../db/connect.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '../../../platform/object-store/object-store.ts';

describe('what an attempt reads from an object store', () => {
  const db: Pick<Db, 'objects'> = { objects: {} as ObjectStore };
  const silent = new Promise<never>(() => undefined);
  const away = () => Promise.reject(new ObjectStoreUnavailable('It does not answer.'));

  it('gives its workflow task to others while the store is silent or away', async () => {
    const attempt = { mayWait: false, begun: 1 };
    await assert.rejects(readInTime(db, attempt, silent), NoRoom);
    await assert.rejects(readInTime(db, attempt, away()), NoRoom);
    assert.equal(await readInTime(db, attempt, Promise.resolve('value')), 'value');
  });

  it('is waited for a second longer by each later attempt', async () => {
    const attempt = { mayWait: false, begun: 2 };
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const slow = Promise.withResolvers<string>();
      const reading = readInTime(db, attempt, slow.promise);
      mock.timers.tick(1_999);
      slow.resolve('value');
      assert.equal(await reading, 'value');
      const late = readInTime(db, attempt, silent);
      mock.timers.tick(2_000);
      await assert.rejects(late, NoRoom);
    } finally {
      mock.timers.reset();
    }
  });

  it('is waited for by an attempt that holds up nobody', async () => {
    const late = new Promise((resolve) => setTimeout(resolve, 1_500, 'value'));
    const attempt = { mayWait: true, begun: 1 };
    assert.equal(await readInTime(db, attempt, late), 'value');
    await assert.rejects(readInTime(db, attempt, away()), ObjectStoreUnavailable);
  });
});
