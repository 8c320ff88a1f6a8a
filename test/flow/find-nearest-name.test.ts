import assert from 'node:assert/strict';
import { findNearestName } from '../../flow/find-nearest-name.ts';

describe('findNearestName', () => {
  const cases: [what: string, name: string, names: string[], found: string | undefined][] = [
    ['a name with two letters changed', 'extarct', ['report', 'extract'], 'extract'],
    ['a name that lacks a letter', 'mesage', ['message', 'previous_output'], 'message'],
    ['a name with a letter more', 'messsage', ['message'], 'message'],
    ['the nearest of several', 'step-12', ['step-3', 'step-1', 'step-123'], 'step-1'],
    ['the first of equally near ones', 'step-4', ['step-1', 'step-2'], 'step-1'],
    ['nothing when over a third of the letters differ', 'abcxyz', ['abcdef'], undefined],
    ['nothing when the names are of very different lengths', 'ab', ['abcdef'], undefined],
    ['nothing among no names', 'a', [], undefined],
  ];
  for (const [what, name, names, found] of cases)
    it(`finds ${what}`, () => assert.equal(findNearestName(name, names), found));
});
