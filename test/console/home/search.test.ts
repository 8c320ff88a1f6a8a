import assert from 'node:assert/strict';
import { readFlowsSearch } from '../../../console/home/search.ts';

describe('the search text for flows in the address', () => {
  it('may look like a number', () => assert.deepEqual(readFlowsSearch({ search: 42 }), { search: '42' }));
  it("is cut to the API's limit", () =>
    assert.deepEqual(readFlowsSearch({ search: 'a'.repeat(201) }), { search: 'a'.repeat(200) }));
  it('is dropped when it is empty or not a text', () => {
    assert.deepEqual(readFlowsSearch({ search: '' }), {});
    assert.deepEqual(readFlowsSearch({ search: ['a'] }), {});
  });
  it('comes with the dialog to open, where there is one', () => {
    assert.deepEqual(readFlowsSearch({ open: 'import' }), { open: 'import' });
    assert.deepEqual(readFlowsSearch({ open: 'other' }), {});
  });
});
