import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createEncryption } from '../../../platform/secrets/encrypt.ts';

describe('secrets at rest', () => {
  const old = { id: 'old', key: randomBytes(32) };
  const fresh = { id: 'fresh', key: randomBytes(32) };
  const before = createEncryption([old]);

  it('can be decrypted for the row they were encrypted for, and for no other', () => {
    const stored = before.encrypt('whsec_ä', 'table/1/column');
    assert.equal(before.decrypt(stored, 'table/1/column'), 'whsec_ä');
    assert.throws(() => before.decrypt(stored, 'table/2/column'));
  });

  it('are encrypted differently each time, and do not show in the stored text', () => {
    const stored = [1, 2].map(() => before.encrypt('whsec_secret', 'row'));
    assert.notEqual(stored[0], stored[1]);
    assert(!stored.some((text) => Buffer.from(text.split(':')[1] ?? '', 'base64').includes('whsec_secret')));
  });

  it('cannot be decrypted when a bit has changed', () => {
    const [id, sealed = ''] = before.encrypt('whsec_secret', 'row').split(':');
    const bytes = Buffer.from(sealed, 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      assert.throws(() => before.decrypt(`${id}:${changed.toString('base64')}`, 'row'));
    }
  });

  it('stay readable after a new key is put in front, under which later ones are encrypted', () => {
    const stored = before.encrypt('one', 'row');
    const after = createEncryption([fresh, old]);
    assert.equal(after.decrypt(stored, 'row'), 'one');
    const rewritten = after.encrypt('two', 'row');
    assert.match(rewritten, /^fresh:/);
    assert.equal(createEncryption([fresh]).decrypt(rewritten, 'row'), 'two');
    assert.throws(() => createEncryption([fresh]).decrypt(stored, 'row'), /under the key old/);
  });
});
