import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { ApiContext } from '../../../api/http/context.ts';
import { createRefusalPace, paceRefusals } from '../../../api/http/pace-refusals.ts';
import { ServiceError } from '../../../flow/errors.ts';
import type { Tenant } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

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

  const config = { proxies: 0 };
  const address = { headers: {}, socket: { remoteAddress: '192.0.2.7' } };
  const contextOf = (state: object) =>
    ({ state, req: address, res: new EventEmitter() }) as unknown as ApiContext;
  const reject = (error: Error) => () => Promise.reject(error);
  const answer = (ctx: ApiContext, status: number) => async () => {
    ctx.status = status;
  };
  const key = { kind: 'key', organizationId: 'org' };

  /** Tells whether the refusal of a request waits, after 200 of the same. */
  async function waits(error: Error, state: object): Promise<boolean> {
    const pace = paceRefusals({ config, stopping: new AbortController().signal });
    const refuse = () => pace(contextOf(state), reject(error)).catch(() => 'answered');
    for (let refusal = 0; refusal < 200; refusal += 1) await refuse();
    const waiting = Array.from({ length: 1_000 }, refuse);
    return (await Promise.race([...waiting.slice(-1), setImmediate('waits')])) === 'waits';
  }

  it('are counted for the organization of a key, for a user and for an address that failed too often', async () => {
    assert.ok(await waits(new ServiceError('FLOW_NOT_FOUND', 'None.'), { principal: key }));
    assert.ok(
      await waits(new ServiceError('FORBIDDEN', 'No.'), { principal: { kind: 'user', userId: 'ann' } }),
    );
    assert.ok(await waits(new ServiceError('RATE_LIMITED', 'Later.'), {}));
  });

  it('wait also where they are answered without an error, as MCP does', async () => {
    const pace = paceRefusals({ config, stopping: AbortSignal.abort() });
    let freed = 0;
    for (let refusal = 0; refusal < 300; refusal += 1) {
      const ctx = contextOf({ principal: key, releaseAnswer: () => (freed += 1) });
      await pace(ctx, answer(ctx, refusal % 2 === 0 ? 400 : 200));
    }
    assert.equal(freed, 0);
    const refuse = async (): Promise<void> => {
      const ctx = contextOf({ principal: key, releaseAnswer: () => (freed += 1) });
      await pace(ctx, answer(ctx, 406));
    };
    for (let refusal = 0; refusal < 1_000; refusal += 1) await refuse();
    assert.ok(freed > 0);
  });

  it('of unknown callers do not wait, nor do faults of the service', async () => {
    assert.ok(!(await waits(new ServiceError('UNAUTHENTICATED', 'Who?'), {})));
    assert.ok(!(await waits(new ServiceError('ENGINE_UNAVAILABLE', 'Away.'), { principal: key })));
    assert.ok(!(await waits(new Error('A bug.'), { principal: key })));
  });

  it('free what is held for their answers, and wait no longer once the caller or the process goes', async () => {
    const stop = new AbortController();
    const pace = paceRefusals({ config, stopping: stop.signal });
    const error = new ServiceError('FLOW_NOT_FOUND', 'None.');
    let freed = 0;
    const begin = () => {
      const ctx = contextOf({ principal: key, releaseAnswer: () => (freed += 1) });
      return { ctx, refused: assert.rejects(pace(ctx, reject(error)), error) };
    };
    const begun = Array.from({ length: 2_000 }, begin);
    await setImmediate();
    // A refusal falls due meanwhile, on a slow machine some do.
    assert.ok(freed > 1_000);
    const [last, other] = [begun.at(-1), begun.at(-2)];
    last?.ctx.res.emit('close');
    await last?.refused;
    stop.abort();
    await other?.refused;
    await Promise.all(begun.map(({ refused }) => refused));
  });

  it('over HTTP let valid requests and other organizations go first', async () => {
    const weir = await getSharedWeir();
    try {
      const [busy, other] = [await weir.createTenant(), await weir.createTenant()];
      const flow = await weir.createFlow(busy, []);
      const answered: string[] = [];
      const send = async (who: string, { key }: Tenant, path: string, status: number) => {
        const answer = await weir.call('GET', path, { key });
        assert.equal(answer.status, status);
        answered.push(who);
      };
      const refused = Array.from({ length: 600 }, () => send('refused', busy, `${flow}/jobs/none`, 404));
      await Promise.all([
        ...refused,
        send('valid', busy, `${flow}/runs`, 200),
        send('other', other, `${flow}/runs`, 404),
      ]);
      assert.equal(answered.at(-1), 'refused');
    } finally {
      await weir.stop();
    }
  });
});
