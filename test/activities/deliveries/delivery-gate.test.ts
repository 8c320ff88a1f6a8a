import assert from 'node:assert/strict';
import {
  createDeliveryGate,
  type DeliveryGate,
  HOST_MAX,
  ORGANIZATION_MAX,
  PAIR_MAX,
} from '../../../activities/deliveries/delivery-gate.ts';

/** Never ends by itself. */
const LONG_MS = 3_600_000;

describe('the gate of webhook attempts', () => {
  const call = (organizationId: string, host: string) => ({ organizationId, host });
  /** Asks for `count` permits at the same time. */
  async function acquireMany(gate: DeliveryGate, count: number, organizationId: string, host: string) {
    const results = await Promise.all(
      Array.from({ length: count }, () => gate.acquire(call(organizationId, host))),
    );
    const permits = results.flatMap((result) => ('release' in result ? result : []));
    const rescheduled = results.flatMap((result) => ('dueInMs' in result ? result.dueInMs : []));
    return { permits, rescheduled };
  }

  it(`has ${PAIR_MAX} permits for an organization and a host, and reschedules the others`, async () => {
    const gate = createDeliveryGate({ waitMaxMs: 0 });
    const { permits, rescheduled } = await acquireMany(gate, PAIR_MAX + 90, 'acme', 'slow');
    assert.deepEqual([permits.length, rescheduled.length], [PAIR_MAX, 90]);
  });

  it('lets no host take the permits of another, nor one organization those of another', async () => {
    const gate = createDeliveryGate({ waitMaxMs: LONG_MS });
    await acquireMany(gate, PAIR_MAX, 'acme', 'slow');
    const ending = new AbortController();
    const waiting = Array.from({ length: 20 }, () => gate.acquire(call('acme', 'slow'), ending.signal));
    for (const [organization, host] of [
      ['acme', 'healthy'],
      ['globex', 'slow'],
    ] as const)
      assert.equal((await acquireMany(gate, 1, organization, host)).permits.length, 1);
    ending.abort();
    for (const result of await Promise.all(waiting)) assert('dueInMs' in result);
  });

  it(`has ${ORGANIZATION_MAX} permits for an organization, whatever its hosts; another one has its own`, async () => {
    const gate = createDeliveryGate({ waitMaxMs: 0 });
    let count = 0;
    for (let host = 0; host < ORGANIZATION_MAX; host += 1)
      count += (await acquireMany(gate, 2, 'acme', `host-${host}`)).permits.length;
    assert.equal(count, ORGANIZATION_MAX);
    assert.equal((await acquireMany(gate, PAIR_MAX, 'globex', 'host-0')).permits.length, PAIR_MAX);
  });

  it(`has at most ${HOST_MAX} permits for a host, the last ones for organizations that have none there`, async () => {
    const gate = createDeliveryGate({ waitMaxMs: 0 });
    const counts = [];
    for (let organization = 0; organization < HOST_MAX; organization += 1)
      counts.push((await acquireMany(gate, PAIR_MAX, `org-${organization}`, 'shared')).permits.length);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      HOST_MAX,
    );
    assert.equal(counts.filter((count) => count === 1).length, 10);
  });

  it('gives a permit that is released to the attempt that waits', async () => {
    const gate = createDeliveryGate({ waitMaxMs: LONG_MS });
    const { permits } = await acquireMany(gate, PAIR_MAX, 'acme', 'slow');
    const waiting = gate.acquire(call('acme', 'slow'));
    permits[0]?.release();
    assert('release' in (await waiting));
  });

  it('reschedules attempts beyond those that may wait at once', async () => {
    const gate = createDeliveryGate({ waitMaxMs: LONG_MS });
    await acquireMany(gate, PAIR_MAX, 'acme', 'slow');
    for (let waiting = 0; waiting < 40; waiting += 1) void gate.acquire(call('acme', 'slow'));
    assert('dueInMs' in (await gate.acquire(call('acme', 'slow'))));
    const { inFlight, queued } = gate.count();
    assert.deepEqual([inFlight, queued], [PAIR_MAX, 40]);
  });

  it('has rescheduled deliveries of an organization come back one by one, those of another beside them', async () => {
    const gate = createDeliveryGate({ waitMaxMs: 0 });
    const { rescheduled } = await acquireMany(gate, PAIR_MAX + 100, 'acme', 'slow');
    // The first and the last are 25 s apart, less the time that this took.
    assert(Math.max(...rescheduled) > 15_000, String(rescheduled));
    const other = await acquireMany(gate, PAIR_MAX + 1, 'globex', 'slow');
    assert((other.rescheduled[0] ?? Infinity) < 2_000);
  });
});
