import assert from 'node:assert/strict';
import { createOwnerLimit } from '../../../platform/limits/owner-limit.ts';

describe('an owner limit', () => {
  /** Work that ends when its function is called, and the names of what has begun. */
  function gated() {
    const limit = createOwnerLimit(2);
    const begun: string[] = [];
    const finish = new Map<string, () => void>();
    const run = (owner: string, name: string) =>
      limit.run(owner, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => finish.set(name, resolve));
        return name;
      });
    return { begun, finish, run };
  }

  it('holds for each owner alone, whose work begins in the order it came', async () => {
    const { begun, finish, run } = gated();
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
    all.push(run('b', 'b1'));
    assert.deepEqual(begun, ['a1', 'a2', 'b1']);
    finish.get('a2')?.();
    await all[1];
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
    for (const name of ['a1', 'a3', 'b1']) finish.get(name)?.();
    await Promise.all([all[0], all[2], all[4]]);
    finish.get('a4')?.();
    assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('lets those in the line leave it, and their places go to the next', async () => {
    const limit = createOwnerLimit(1);
    const leave = await limit.enter('a');
    const gone = new AbortController();
    const first = limit.enter('a', gone.signal);
    const second = limit.enter('a');
    gone.abort(new Error('gone'));
    await assert.rejects(first, { message: 'gone' });
    await assert.rejects(limit.enter('b', gone.signal), { message: 'gone' });
    leave();
    (await second)();
    assert.equal(await limit.run('a', async () => 'done'), 'done');
  });

  it('is free again after work that failed', async () => {
    const limit = createOwnerLimit(1);
    const failing = () => limit.run('a', () => Promise.reject(new Error('no')));
    await Promise.all([assert.rejects(failing), assert.rejects(failing)]);
    assert.equal(await limit.run('a', async () => 'done'), 'done');
  });
});
