import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ApiContext } from '../../../api/http/context.ts';
import { createPace, createRefusalPace } from '../../../api/http/pace-refusals.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('rejections', () => {
  it('of one client wait beyond 200 at one moment, and are then 200 a second', () => {
    let now = 1_000_000;
    const nextInMs = createPace(() => now);
    for (let rejection = 0; rejection < 200; rejection += 1) assert.equal(nextInMs('a'), 0);
    assert.deepEqual([nextInMs('a'), nextInMs('a'), nextInMs('a')], [5, 10, 15]);
    assert.equal(nextInMs('b'), 0);
    now += 60_000;
    for (let rejection = 0; rejection < 200; rejection += 1) assert.equal(nextInMs('a'), 0);
    assert.equal(nextInMs('a'), 5);
  });

  it('wait for 5 s at most, however many there are', () => {
    const nextInMs = createPace(() => 0);
    for (let rejection = 0; rejection < 10_000; rejection += 1) assert.ok(nextInMs('a') <= 5_000);
    assert.equal(nextInMs('a'), 5_000);
  });

  const key = { kind: 'key', organizationId: 'org' };
  for (const [what, status, state, waits] of [
    ['of an organization wait', 404, { principal: key }, true],
    ['of a user wait', 403, { principal: { kind: 'user', userId: 'ann' } }, true],
    ['of an address that failed too often wait', 429, {}, true],
    ['of unknown callers do not wait', 401, {}, false],
    ['do not wait where the service is at fault', 503, { principal: key }, false],
  ] as const)
    it(`${what}, no longer than their caller, and release their answer`, async () => {
      const pace = createRefusalPace({ networkOf: () => '192.0.2.0' });
      let released = 0;
      const begin = () => {
        const releaseAnswer = () => (released += 1);
        const ctx = { status, state: { ...state, releaseAnswer }, res: new EventEmitter() };
        return { ctx, paced: pace(ctx as unknown as ApiContext) };
      };
      const begun = Array.from({ length: 1_000 }, begin);
      assert.equal(released > 0, waits);
      for (const { ctx } of begun) ctx.res.emit('close');
      await Promise.all(begun.map(({ paced }) => paced));
    });

  it('are all answered over HTTP, and so are valid requests beside them', async () => {
    const weir = await getSharedWeir();
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, []);
    const get = async (path: string) => (await weir.call('GET', path, { key: tenant.key })).status;
    const rejected = Array.from({ length: 300 }, () => get(`${flow}/jobs/none`));
    assert.equal(await get(`${flow}/runs`), 200);
    assert.deepEqual(new Set(await Promise.all(rejected)), new Set([404]));
    await weir.stop();
  });
});
