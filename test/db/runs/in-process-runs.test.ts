import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInProcessRuns } from '../../../db/runs/in-process-runs.ts';
import { createPlace } from '../../../fairness/place.ts';

const HOUR_MS = 3_600_000;

describe('the end of a run', () => {
  it('is told to any number of callers, without a warning about a leak', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { ends } = createInProcessRuns();
    const waiting = Promise.all(Array.from({ length: 30 }, () => once(ends, 'run')));
    // Warnings are told in a tick of their own.
    await new Promise((resolve) => setImmediate(resolve));
    ends.emit('run', {
      status: 'failed',
      error: { code: 'CANCELLED', message: 'cancelled', reason: 'error' },
    });
    assert.equal((await waiting).length, 30);
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });

  it('free the place of a run that ends or waits, once, and give back that of a repeated request alone', () => {
    const freed: string[] = [];
    const { holdPlace, freePlace, end } = createInProcessRuns();
    const place = (name: string) => createPlace(() => freed.push(name), HOUR_MS);
    holdPlace('ends', place('ends'));
    holdPlace('waits', place('waits'));
    holdPlace('waits', place('repeated'))();
    assert.deepEqual(freed, ['repeated']);
    freePlace('waits');
    end('ends', { status: 'completed', result: { ref: 'a', bytes: 1 } });
    end('waits', { status: 'completed', result: { ref: 'a', bytes: 1 } });
    assert.deepEqual(freed, ['repeated', 'waits', 'ends']);
  });
});
