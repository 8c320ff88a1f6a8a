import assert from 'node:assert/strict';
import { findInexactNumber } from '../../../platform/json-text/scan-json.ts';

describe('a whole number that JSON.parse would change', () => {
  const cases: [text: string, found: string | undefined][] = [
    ['{"id":9007199254740993}', '9007199254740993'],
    ['[1,-12345678901234567890]', '-12345678901234567890'],
    ['12345678901234567890', '12345678901234567890'],
    ['1000000000000000000000000', '1000000000000000000000000'],
    ['9007199254740991', undefined],
    ['9007199254740992', undefined],
    ['100000000000000000000', undefined],
    ['"12345678901234567890"', undefined],
    ['{"a\\"12345678901234567890":1}', undefined],
    ['0.12345678901234567890', undefined],
    ['12345678901234567890.5', undefined],
    ['1.2345678901234567890e5', undefined],
    ['[1.5,12345678901234567891]', '12345678901234567891'],
    ['123456789012345', undefined],
  ];
  for (const [text, found] of cases)
    it(`is ${found ?? 'not'} in ${text}`, () => {
      assert.equal(findInexactNumber(Buffer.from(text)), found);
    });
});
