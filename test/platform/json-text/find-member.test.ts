import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findMember } from '../../../platform/json-text/scan-json.ts';

const find = (json: string, name = 'a') => {
  const found = findMember(Buffer.from(json), name);
  return found && Buffer.from(found).toString();
};

describe('findMember', () => {
  for (const [rule, json, member] of [
    ['one of several', '{"b":{"a":1},"a":[1,{"c":2}],"d":3}', '[1,{"c":2}]'],
    ['the last', '{"b":1,"a":"x,}"}', '"x,}"'],
    ['one with space around it', '{ "a" : \n7 , "b": 1 }', ' \n7 '],
    ['the first of two', '{"a":1,"a":2}', '1'],
    ['one that does not end', '{"a":[1,', '[1,'],
    ['none: a value of that name', '{"b":"a"}', undefined],
    ['none: a member further inside', '{"b":{"a":1}}', undefined],
    ['none: a list', '["a",1]', undefined],
    ['none: nothing', '', undefined],
    ['none: a text that does not end', '{"a', undefined],
  ] as const)
    it(`finds ${rule}`, () => assert.equal(find(json), member));

  it('finds what JSON.parse finds', () => {
    const name = fc.oneof(fc.constantFrom('a', '', '"', '\\', 'a"'), fc.string());
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), name, (object, wanted) => {
        const found = find(JSON.stringify(object), wanted);
        const value = Object.hasOwn(object, wanted) ? JSON.stringify(object[wanted]) : undefined;
        assert.equal(found, value);
      }),
    );
  });
});
