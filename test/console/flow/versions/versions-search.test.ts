import assert from 'node:assert/strict';
import { readVersionsSearch } from '../../../../console/flow/versions/versions-search.ts';

describe('readVersionsSearch', () => {
  it('reads numbers of versions and the draft', () => {
    assert.deepEqual(readVersionsSearch({ version: 3, compare: 'draft' }), { version: 3, compare: 'draft' });
    assert.deepEqual(readVersionsSearch({ version: '3' }), { version: 3 });
  });

  it('drops everything else', () => {
    for (const version of [0, -1, 1.5, 'x', '', true, null, [2, 3], {}])
      assert.deepEqual(readVersionsSearch({ version, other: 1 }), {}, JSON.stringify(version));
  });
});
