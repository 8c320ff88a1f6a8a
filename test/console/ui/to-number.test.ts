import assert from 'node:assert/strict';
import { fromNumber, toNumber } from '../../../console/ui/fields/read-text.ts';

describe('a typed number', () => {
  it('is read in decimal digits, with or without a fraction', () => {
    assert.deepEqual(['100', ' -5 ', '0.5', '.5', '5.'].map(toNumber), [100, -5, 0.5, 0.5, 5]);
    assert.deepEqual(['', '  '].map(toNumber), [undefined, undefined]);
  });

  it('is not guessed from another notation', () => {
    for (const text of [
      '0x10',
      '0b1',
      '1e3',
      '1E3',
      'Infinity',
      '+5',
      '1,000',
      '1_000',
      '.',
      '-',
      '1 0',
      '٣',
    ])
      assert.equal(toNumber(text), Number.NaN, text);
  });

  it('is written so that it can be read again, however small or large', () => {
    for (const value of [0, 1e-7, 0.1, 1234567.5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])
      assert.equal(toNumber(fromNumber(value)), value);
    assert.deepEqual([null, undefined].map(fromNumber), ['', '']);
  });
});
