import assert from 'node:assert/strict';
import { createLargeValues } from '../../../platform/large-values/large-values.ts';
import { captureMetrics } from '../../capture-metrics.ts';

const MB = 1024 * 1024;

describe('the memory for large values', () => {
  it('is a metric, by budget: what is held, and what waits', async () => {
    const metrics = captureMetrics();
    const read = async () => {
      const [held, waiting] = [
        await metrics.read('weir.gate.weight'),
        await metrics.read('weir.gate.queued'),
      ];
      return ['bodies', 'answers'].flatMap((budget) => [
        held[`gate=${budget}`] ?? 0,
        waiting[`gate=${budget}`] ?? 0,
      ]);
    };
    const before = await read();
    const added = async () => (await read()).map((value, place) => value - (before[place] ?? 0));
    const largeValues = createLargeValues();
    const giveBack = await largeValues.bodies.take('a', 32 * MB);
    const waiting = largeValues.bodies.take('a', MB);
    assert.deepEqual(await added(), [32 * MB, 1, 0, 0]);
    giveBack();
    await waiting;
    assert.deepEqual(await added(), [MB, 0, 0, 0]);
    await largeValues.close();
    assert.deepEqual(await added(), [0, 0, 0, 0]);
    metrics.stop();
  });

  for (const name of ['bodies', 'answers'] as const)
    it(`has ${name} for organizations that hold none, however long four others hold theirs`, async () => {
      const largeValues = createLargeValues();
      const budget = largeValues[name];
      for (const owner of ['a', 'b', 'c', 'd']) assert(budget.takeNow(owner, 32 * MB));
      for (const owner of ['e', 'f']) assert(budget.takeNow(owner, 12 * MB));
      await largeValues.close();
    });
});
