import assert from 'node:assert/strict';
import { takeBytes } from '../../../api/http/take-bytes.ts';
import { createByteBudget } from '../../../platform/limits/byte-budget.ts';
import { captureMetrics } from '../../capture-metrics.ts';

const MB = 1024 * 1024;

describe('a large request or answer', () => {
  const { timeout } = AbortSignal;
  afterEach(() => {
    AbortSignal.timeout = timeout;
  });

  it('is refused and counted when its turn does not come in time', async () => {
    const budget = createByteBudget(MB, MB);
    await budget.take('a', MB);
    // The time is over at once.
    const late = new AbortController();
    AbortSignal.timeout = () => late.signal;
    const metrics = captureMetrics();
    const taking = takeBytes(budget, 'a', MB);
    late.abort();
    await assert.rejects(taking, { code: 'RATE_LIMITED', retryAfterSeconds: 5 });
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=bytes'], 1);
    metrics.stop();
  });

  it('takes no turn once its caller has gone', async () => {
    const budget = createByteBudget(MB, MB);
    await budget.take('a', MB);
    const gone = new AbortController();
    const taking = takeBytes(budget, 'a', MB, () => gone.signal);
    gone.abort();
    await assert.rejects(taking, { code: 'REQUEST_TIMEOUT' });
    assert.equal(budget.countWaiting(), 0);
  });
});
