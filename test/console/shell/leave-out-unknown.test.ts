import assert from 'node:assert/strict';
import { dropUnknown } from '../../../console/shell/drop-unknown.ts';
import { readUsageSearch } from '../../../console/usage/search.ts';

describe('the search parameters of an address', () => {
  it('are undefined when the page does not know them, although the router adds them again', () => {
    const written = { range: '2d', by: 'model', __proto__: 'x', other: '1' };
    const read = dropUnknown(readUsageSearch)(written);
    assert.deepEqual({ ...written, ...read }, { range: undefined, by: 'model', other: undefined });
  });
});
