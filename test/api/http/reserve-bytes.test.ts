import assert from 'node:assert/strict';
import { reserveBytes } from '../../../api/http/reserve-bytes.ts';
import { createFairQueue } from '../../../platform/limits/fair-queue.ts';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { captureMetrics } from '../../capture-metrics.ts';

const MB = 1024 * 1024;

describe('a large request or answer', () => {
  it('is refused and counted when its permit does not come in time', async () => {
    const gate = createFairQueue({ capacity: MB, waitMaxMs: 1 });
    await gate.acquire('a', { weight: MB });
    const metrics = captureMetrics();
    await assert.rejects(
      reserveBytes(gate, 'a', MB),
      (error: { code: string; retryAfterSeconds: number }) => {
        assert.deepEqual([error.code, error.retryAfterSeconds >= 1], ['RATE_LIMITED', true]);
        return true;
      },
    );
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=bytes'], 1);
    metrics.stop();
  });

  it('is refused as the service is busy when requests of all organizations fill the queue', async () => {
    const gate = createFairQueue({ capacity: MB, queuedMax: 0 });
    await gate.acquire('a', { weight: MB });
    await assert.rejects(reserveBytes(gate, 'b', MB), { code: 'SERVICE_BUSY' });
  });

  it('acquires no permit once its caller has gone', async () => {
    const gate = createFairQueue({ capacity: MB });
    await gate.acquire('a', { weight: MB });
    const gone = new AbortController();
    const reserving = reserveBytes(gate, 'a', MB, gone.signal);
    gone.abort();
    await assert.rejects(reserving, { code: 'REQUEST_TIMEOUT' });
    assert.equal(gate.count().queued, 0);
  });

  it('needs a permit from its size on', async () => {
    const gate = createFairQueue({ capacity: MB });
    using _small = await reserveBytes(gate, 'a', SMALL_BYTES - 1);
    assert.equal(gate.count().weight, 0);
    using _large = await reserveBytes(gate, 'a', SMALL_BYTES);
    assert.equal(gate.count().weight, SMALL_BYTES);
  });
});
