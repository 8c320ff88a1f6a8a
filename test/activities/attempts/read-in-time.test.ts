import assert from 'node:assert/strict';
import { readInTime } from '../../../activities/attempts/read-in-time.ts';
import { NoRoom } from '../../../activities/attempts/reserve-memory.ts';
import type { Db } from '../../../db/connect.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '../../../platform/object-store/object-store.ts';

describe('what an attempt reads from an object store', () => {
  const db: Pick<Db, 'objects'> = { objects: {} as ObjectStore };
  const silent = new Promise<never>(() => undefined);
  const away = () => Promise.reject(new ObjectStoreUnavailable('It does not answer.'));

  it('gives its workflow task to others while the store is silent or away', async () => {
    await assert.rejects(readInTime(db, { mayWait: false }, silent), NoRoom);
    await assert.rejects(readInTime(db, { mayWait: false }, away()), NoRoom);
    assert.equal(await readInTime(db, { mayWait: false }, Promise.resolve('value')), 'value');
  });

  it('is waited for by an attempt that holds up nobody', async () => {
    const late = new Promise((resolve) => setTimeout(resolve, 1_500, 'value'));
    assert.equal(await readInTime(db, { mayWait: true }, late), 'value');
    await assert.rejects(readInTime(db, { mayWait: true }, away()), ObjectStoreUnavailable);
  });
});
