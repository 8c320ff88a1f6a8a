import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { limitLookUps } from '../../../../api/runs/calls/limit-look-ups.ts';
import { REQUEST_BYTES_WAIT_MS } from '../../../../platform/limits/gates.ts';
import { createResolvePublic } from '../../../../platform/net/resolve-public.ts';
import { captureMetrics } from '../../../capture-metrics.ts';
import { waitUntil } from '../../../wait-until.ts';

describe('hosts that requests name', () => {
  afterEach(() => mock.timers.reset());

  /** Look-ups that end when `end` is called; `asked` are the hosts whose look-up has begun. */
  function heldLookUps() {
    const asked: string[] = [];
    const ending: (() => void)[] = [];
    const resolvePublic = createResolvePublic({
      lookup(host) {
        asked.push(host);
        return new Promise((resolve) => ending.push(() => resolve(['8.8.8.8'])));
      },
    });
    const lookUp = (organizationId: string, host: string) =>
      limitLookUps({ resolvePublic }, organizationId).resolvePublic({ hostname: host, port: '' });
    return { asked, lookUp, end: () => ending.shift()?.() };
  }

  it('are looked up 20 at a time for one organization, while others do not wait', async () => {
    const { asked, lookUp, end } = heldLookUps();
    const many = Array.from({ length: 25 }, (_, index) => lookUp('a', `h${index}.example`));
    const other = lookUp('b', 'b.example');
    await waitUntil(() => asked.includes('b.example'));
    assert.equal(asked.length, 21);
    end();
    await many[0];
    await waitUntil(() => asked.length === 22);
    for (let ended = 1; ended < 26; ended += 1) {
      await waitUntil(() => asked.length > ended);
      end();
    }
    for (const resolution of await Promise.all([...many, other])) assert.ok(resolution.targets);
  });

  it('are RATE_LIMITED, and counted, when their permit does not come in time', async () => {
    const { asked, lookUp, end } = heldLookUps();
    const many = Array.from({ length: 20 }, (_, index) => lookUp('c', `h${index}.example`));
    await waitUntil(() => asked.length === 20);
    const metrics = captureMetrics();
    mock.timers.enable({ apis: ['setTimeout'] });
    const waiting = lookUp('c', 'late.example');
    mock.timers.tick(REQUEST_BYTES_WAIT_MS);
    mock.timers.reset();
    await assert.rejects(waiting, { code: 'RATE_LIMITED', retryAfterSeconds: 5, message: /hosts/ });
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=look_ups'], 1);
    metrics.stop();
    for (const _ of many) end();
    await Promise.all(many);
    assert.ok(!asked.includes('late.example'));
  });
});
