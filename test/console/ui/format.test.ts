import assert from 'node:assert/strict';
import { formatBytes, formatCredits, formatDuration, formatMoment } from '../../../console/ui/format.ts';

describe('formatted numbers', () => {
  const durations: [ms: number, text: string][] = [
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [2_449, '2.4 s'],
    [9_960, '10 s'],
    [59_499, '59 s'],
    [59_600, '1 min 0 s'],
    [179_700, '3 min 0 s'],
    [3_599_600, '1 h 0 min'],
    [7_440_000, '2 h 4 min'],
  ];
  for (const [ms, text] of durations)
    it(`are ${text} for ${ms} milliseconds`, () => assert.equal(formatDuration(ms), text));

  const sizes: [bytes: number, text: string][] = [
    [999, '999 B'],
    [999_499, '999 KB'],
    [999_500, '1.0 MB'],
    [3_400_000, '3.4 MB'],
  ];
  for (const [bytes, text] of sizes)
    it(`are ${text} for ${bytes} bytes`, () => assert.equal(formatBytes(bytes), text));

  it('have four decimals for credits from 1, as for balances', () => {
    assert.equal(formatCredits(12_345.67), '12,345.67');
    assert.equal(formatCredits(-12_345.678_91), '-12,345.6789');
    assert.equal(formatCredits(0.012_743_2), '0.01274');
  });

  it('show that an amount too small for its decimals is not zero', () => {
    assert.equal(formatCredits(0), '0');
    assert.equal(formatCredits(0.000_000_4), '<0.000001');
  });

  it('are the same for a time in every browser', () =>
    assert.equal(formatMoment('2026-11-30T15:07:54'), '30 Nov 2026, 15:07:54'));
});
