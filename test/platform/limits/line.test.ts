import assert from 'node:assert/strict';
import { createLine } from '../../../platform/limits/line.ts';

describe('a line of those who wait', () => {
  const takeAll = (line: ReturnType<typeof createLine<string>>) =>
    Array.from({ length: line.length }, () => line.takeNext());

  it('lets patient ones wait for the others, but for every fourth turn', () => {
    const line = createLine<string>();
    for (const job of ['job 1', 'job 2', 'job 3']) line.add(job, { patient: true });
    for (let call = 1; call <= 7; call += 1) line.add(`call ${call}`, {});
    const order = ['call 1', 'call 2', 'call 3', 'job 1', 'call 4', 'call 5', 'call 6', 'job 2', 'call 7'];
    assert.deepEqual(takeAll(line), [...order, 'job 3']);
    assert.equal(line.takeNext(), undefined);
  });

  it('counts only turns that a patient one had to wait for', () => {
    const line = createLine<string>();
    for (let call = 1; call <= 4; call += 1) line.add(`call ${call}`, {});
    assert.equal(line.takeNext(), 'call 1');
    assert.equal(line.takeNext(), 'call 2');
    assert.equal(line.takeNext(), 'call 3');
    line.add('job', { patient: true });
    assert.equal(line.takeNext(), 'call 4');
    assert.equal(line.takeNext(), 'job');
  });

  it('lets one that holds something go before all others', () => {
    const line = createLine<string>();
    line.add('call', {});
    line.add('job', { patient: true });
    line.add('job with its input', { patient: true, first: true });
    line.add('call with its input', { first: true });
    assert.deepEqual(takeAll(line), ['job with its input', 'call with its input', 'call', 'job']);
  });

  it('forgets those who leave', () => {
    const line = createLine<string>();
    line.add('job', { patient: true });
    line.add('call', {});
    line.remove('call');
    line.remove('nobody');
    assert.deepEqual(takeAll(line), ['job']);
  });
});
