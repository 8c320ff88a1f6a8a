import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findStringEnd } from '../../../platform/json-text/scan-json.ts';

describe('findStringEnd', () => {
  const plain = 'x'.repeat(100);
  for (const [rule, json, end] of [
    ['the end of a short string', '"ab",', 3],
    ['the end of a long string', `"${plain}"`, 101],
    ['the end after an escaped quote in a long string', `"${plain}\\"${plain}"`, 203],
    ['the end after an escaped backslash in a long string', `"${plain}\\\\"${plain}`, 103],
    ['the length where a string does not end', `"${plain}\\"`, 103],
    ['the length where a string ends with a backslash', '"a\\', 3],
  ] as const)
    it(`finds ${rule}`, () => assert.equal(findStringEnd(Buffer.from(json), 1), end));

  it('finds the end of whatever JSON.stringify writes', () => {
    const part = fc.oneof(fc.constantFrom('"', '\\', plain, '\\"', ','), fc.string());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const json = Buffer.from(JSON.stringify(parts.join('')));
        assert.equal(findStringEnd(Buffer.concat([json, Buffer.from(',"a"')]), 1), json.length - 1);
      }),
    );
  });
});
