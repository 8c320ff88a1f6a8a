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
    ['[12345678901234567890.0]', '12345678901234567890.0'],
    ['{"a":-9007199254740993.0}', '-9007199254740993.0'],
    ['9007199254740993e0', '9007199254740993e0'],
    ['9007199254.740993E6', '9007199254.740993E6'],
    ['9007199254740994.000', undefined],
    ['6.02214076e+23', undefined],
    ['100000000000000000000000e-2', undefined],
    ['1e400', undefined],
    ['0.00000000000000000000', undefined],
    ['[1.5,12345678901234567891]', '12345678901234567891'],
    ['123456789012345', undefined],
  ];
  for (const [text, found] of cases)
    it(`is ${found ?? 'not'} in ${text}`, () => {
      assert.equal(findInexactNumber(Buffer.from(text))?.digits, found);
    });

  for (const [text, path] of [
    ['9007199254740993', []],
    ['{"a":{"b\\"c":[1,{"x":[]},9007199254740993]}}', ['a', 'b"c', '2']],
    ['{"a":[{"b":1}],"":{"d":"9007199254740993","e": 9007199254740993}}', ['', 'e']],
    ['[[1,2],[3,{"n":"x"},[9007199254740993]]]', ['1', '2', '0']],
  ] as [string, string[]][])
    it(`is at /${path.join('/')} in ${text}`, () => {
      assert.deepEqual(findInexactNumber(Buffer.from(text))?.path, path);
    });
});
