import assert from 'node:assert/strict';
import { describeAttributes } from '../../../cli/doctor/checks.ts';
import { SEARCH_ATTRIBUTES } from '../../../flow/run.ts';

const ALL = Object.keys(SEARCH_ATTRIBUTES);
const without = (name: string) => ALL.filter((one) => one !== name);

describe('search attributes of the engine, as weir doctor tells them,', () => {
  it('are well when none is missing', () => {
    assert.deepEqual(describeAttributes(ALL), []);
  });

  it('are an error when one of ours is missing, named with its type', () => {
    const [found, ...more] = describeAttributes(without('WeirOutcome'));
    assert.deepEqual([found?.state, more], ['error', []]);
    assert.match(found?.message ?? '', /lacks the search attributes WeirOutcome \(KEYWORD\)\.$/);
  });

  it('are a warning when they cannot be listed', () => {
    assert.equal(describeAttributes(undefined)[0]?.state, 'warning');
  });
});
