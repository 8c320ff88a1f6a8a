import assert from 'node:assert/strict';
import { createOrganizationLimit } from '../../fairness/organization-limit.ts';

describe('an organization limit', () => {
  /** Work that ends when its function is called, and the names of what has begun. */
  function gated() {
    const limit = createOrganizationLimit(2);
    const begun: string[] = [];
    const finish = new Map<string, () => void>();
    const run = (organization: string, name: string) =>
      limit.run(organization, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => finish.set(name, resolve));
        return name;
      });
    return { begun, finish, run };
  }

  it('holds for each organization alone, whose work begins in the order it came', async () => {
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

  it('is free again after work that failed', async () => {
    const limit = createOrganizationLimit(1);
    const failing = () => limit.run('a', () => Promise.reject(new Error('no')));
    await Promise.all([assert.rejects(failing), assert.rejects(failing)]);
    assert.equal(await limit.run('a', async () => 'done'), 'done');
  });
});
