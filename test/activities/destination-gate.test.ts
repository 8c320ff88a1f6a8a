import assert from 'node:assert/strict';
import { createDestinationGate } from '../../activities/destination-gate.ts';

/** Whether a promise has settled once everything that was to run has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const later = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([promise, later])) !== pending;
}

describe('destination gate', () => {
  const enterMany = (
    gate: ReturnType<typeof createDestinationGate>,
    count: number,
    host: string,
    organizationId = 'o',
  ) => Array.from({ length: count }, () => gate.enter({ host, organizationId }));

  it('lets ten in at one host, and the next one when one leaves', async () => {
    const gate = createDestinationGate(500);
    const [first, ...others] = enterMany(gate, 11, 'a');
    const next = others.at(-1) as Promise<unknown>;
    assert.equal(await isSettled(next), false);
    assert.equal(await isSettled(gate.enter({ host: 'b', organizationId: 'o' })), true);
    (await first)?.();
    assert.equal(await isSettled(next), true);
  });

  it('lets forty in for one organization, whatever its hosts', async () => {
    const gate = createDestinationGate(500);
    const inside = ['a', 'b', 'c', 'd'].flatMap((host) => enterMany(gate, 10, host));
    assert.equal((await Promise.all(inside)).filter(Boolean).length, 40);
    const next = gate.enter({ host: 'e', organizationId: 'o' });
    assert.equal(await isSettled(next), false);
    assert.equal(await isSettled(gate.enter({ host: 'e', organizationId: 'other' })), true);
    (await inside[0])?.();
    assert.equal(await isSettled(next), true);
  });

  it('turns away at once what would have more than an eighth of the worker wait for one host', async () => {
    const gate = createDestinationGate(160);
    const inHand = enterMany(gate, 20, 'a');
    assert.equal(await enterMany(gate, 1, 'a')[0], undefined);
    (await inHand[0])?.();
    assert.equal(await isSettled(enterMany(gate, 1, 'a')[0] as Promise<unknown>), false);
  });

  it('turns away at once what would have more than a quarter of the worker wait for one organization', async () => {
    const gate = createDestinationGate(160);
    for (const host of ['a', 'b']) enterMany(gate, 20, host);
    assert.equal(await gate.enter({ host: 'c', organizationId: 'o' }), undefined);
    assert.notEqual(await gate.enter({ host: 'c', organizationId: 'other' }), undefined);
  });
});
