import assert from 'node:assert/strict';
import { readFlowsSearch } from '../../../console/home/search.ts';

describe('the text in the address by which flows are looked for', () => {
  it('may read as a number', () => assert.deepEqual(readFlowsSearch({ search: 42 }), { search: '42' }));
  it('is cut to what the API takes', () =>
    assert.deepEqual(readFlowsSearch({ search: 'a'.repeat(201) }), { search: 'a'.repeat(200) }));
  it('is left out where it is empty, or is not a text', () => {
    assert.deepEqual(readFlowsSearch({ search: '' }), {});
    assert.deepEqual(readFlowsSearch({ search: ['a'] }), {});
  });
});
