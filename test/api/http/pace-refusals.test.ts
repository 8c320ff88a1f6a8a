import assert from 'node:assert/strict';
import type { Context } from 'koa';
import { createRefusalPace, paceRefusals } from '../../../api/http/pace-refusals.ts';
import { ServiceError } from '../../../flow/errors.ts';

describe('refusals', () => {
  it('of one owner wait beyond 200 at one moment, and are then 200 a second', () => {
    let now = 1_000_000;
    const nextInMs = createRefusalPace(() => now);
    for (let refusal = 0; refusal < 200; refusal += 1) assert.equal(nextInMs('a'), 0);
    assert.deepEqual([nextInMs('a'), nextInMs('a'), nextInMs('a')], [5, 10, 15]);
    now += 15;
    assert.equal(nextInMs('a'), 5);
    now += 60_000;
    for (let refusal = 0; refusal < 200; refusal += 1) assert.equal(nextInMs('a'), 0);
    assert.equal(nextInMs('a'), 5);
  });

  it('of others do not wait for them', () => {
    const nextInMs = createRefusalPace(() => 0);
    for (let refusal = 0; refusal < 1_000; refusal += 1) nextInMs('a');
    assert.equal(nextInMs('b'), 0);
  });

  it('wait for 5 s at most, however many there are', () => {
    const nextInMs = createRefusalPace(() => 0);
    for (let refusal = 0; refusal < 10_000; refusal += 1) assert.ok(nextInMs('a') <= 5_000);
    assert.equal(nextInMs('a'), 5_000);
  });

  it('are counted for the organization of a key, a user or a network, and faults of the service are not', async () => {
    const asked: string[] = [];
    const pace = paceRefusals(0, (owner) => {
      asked.push(owner);
      return 1;
    });
    const req = { headers: {}, socket: { remoteAddress: '192.0.2.7' } };
    const refuse = (error: Error, principal?: object) =>
      assert.rejects(
        async () => pace({ state: { principal }, req } as Context, () => Promise.reject(error)),
        error,
      );
    const key = { kind: 'key', organizationId: 'org' };
    await refuse(new ServiceError('RATE_LIMITED', 'Later.'), key);
    await refuse(new ServiceError('VALIDATION_ERROR', 'Wrong.'), { kind: 'user', userId: 'ann' });
    await refuse(new ServiceError('ENGINE_UNAVAILABLE', 'Away.'), key);
    await refuse(new Error('A bug.'), key);
    await refuse(new ServiceError('UNAUTHENTICATED', 'Who?'));
    assert.deepEqual(asked, ['org', 'ann', '192.0.2.7']);
  });
});
