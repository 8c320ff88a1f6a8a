import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createTimedId, deriveId, timeOfId } from '../../db/timed-id.ts';

const AT = new Date('2026-11-23T05:46:06.123Z');
const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const hash = (text: string) => createHash('sha256').update(text).digest();

describe('an id with a time', () => {
  it('is a version 7 UUID that begins with the time, and no two are the same', () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => createTimedId(AT)));
    assert.equal(ids.size, 1_000);
    for (const id of ids) {
      assert.match(id, SHAPE);
      assert.equal(id[14], '7');
      assert.deepEqual(timeOfId(id), AT);
    }
  });

  it('lies before all ids of the next millisecond', () => {
    assert.ok(createTimedId(AT) < createTimedId(new Date(AT.getTime() + 1)));
  });

  it('gives its time to the ids that are derived from it, each hash another one', () => {
    const id = createTimedId(AT);
    const derived = deriveId(id, hash('a'));
    assert.match(derived, SHAPE);
    assert.deepEqual(timeOfId(derived), AT);
    assert.equal(derived, deriveId(id, hash('a')));
    assert.notEqual(derived, deriveId(id, hash('b')));
  });
});
