import assert from 'node:assert/strict';
import { createHttpGates, isSaturated, REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { observeGates } from '../../../platform/observability/metrics/gate-metrics.ts';
import { captureMetrics } from '../../capture-metrics.ts';

const MIB = 1024 * 1024;
const FEW = 12 * MIB;

describe('the gates of request bytes', () => {
  for (const name of ['bodies', 'answers'] as const) {
    it(`have room for ${name} of idle organizations, however long four others hold theirs`, () => {
      const gate = createHttpGates({ hasWorker: true, connections: 20 })[name];
      for (const key of ['a', 'b', 'c', 'd']) assert(gate.tryAcquire(key, { weight: REQUEST_BYTES_EACH }));
      for (const key of ['e', 'f']) assert(gate.tryAcquire(key, { weight: FEW }));
    });

    it(`are saturated by ${name} of several organizations, and not by those of one`, async () => {
      const gate = createHttpGates({ hasWorker: true, connections: 20 })[name];
      const gone = new AbortController();
      const queue = (key: string) => {
        const queued = gate.acquire(key, { weight: REQUEST_BYTES_EACH, signal: gone.signal });
        queued.catch(() => undefined);
      };
      queue('a');
      queue('a');
      assert.deepEqual([gate.count().queued, isSaturated(gate)], [1, false]);
      for (const key of ['b', 'c', 'd', 'e', 'f']) queue(key);
      assert.deepEqual([gate.count().queued, isSaturated(gate)], [2, true]);
      gone.abort();
      assert.equal(isSaturated(gate), false);
    });
  }

  it('are metrics, by gate', async () => {
    const { answers } = createHttpGates({ hasWorker: true, connections: 20 });
    const metrics = captureMetrics();
    const stop = observeGates({ tested: answers });
    const read = async () => {
      const values: (number | undefined)[] = [];
      for (const name of ['permits', 'weight', 'queued', 'oldest_wait'])
        values.push((await metrics.read(`weir.gate.${name}`))['gate=tested']);
      return values;
    };
    const permit = await answers.acquire('a', { weight: REQUEST_BYTES_EACH });
    const queued = answers.acquire('a', { weight: 1 });
    const [inFlight, weight, waiting, oldest] = await read();
    assert.deepEqual([inFlight, weight, waiting], [1, REQUEST_BYTES_EACH, 1]);
    assert.equal(typeof oldest, 'number');
    permit.release();
    (await queued).release();
    assert.deepEqual(await read(), [0, 0, 0, 0]);
    stop();
    metrics.stop();
  });
});
