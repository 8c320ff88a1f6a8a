import assert from 'node:assert/strict';
import {
  findBulkObstacle,
  isFiltered,
  parseRunFilter,
  runQuery,
  uncountedFilters,
} from '../../../../console/runs/search.ts';

const BULK_ID = '0199b0a0-6c1e-7b43-9f6c-3f3a1f0f8a11';

describe('the filter of the list of runs', () => {
  it('is read from an address', () => {
    const search = {
      flow: 'hello',
      outcome: 'refused',
      version: 3,
      minCost: 0.5,
      key: 'abcd1234',
      search: 'no price',
      error_group: '4f0c2b9d1e7a',
      bulk_id: BULK_ID,
    };
    assert.deepEqual(parseRunFilter(search), search);
    assert.deepEqual(parseRunFilter({ status: 'started' }), { status: 'started' });
    assert.deepEqual(parseRunFilter({ status: 'failed' }), { outcome: 'failed' });
    assert.deepEqual(parseRunFilter({ range: '24h' }), { range: '24h' });
    assert.deepEqual(parseRunFilter({ version: 0 }), { version: 0 });
    assert.deepEqual(parseRunFilter({ key: 12345678, search: 123456 }), {
      ...{ key: '12345678', search: '123456' },
    });
  });

  it('drops invalid values', () => {
    for (const search of [
      { flow: '<script>' },
      { status: 'toString' },
      { range: 'constructor' },
      { mode: ['execute'] },
      { version: -1 },
      { version: 1.5 },
      { version: 1e12 },
      { minCost: -1 },
      { minCost: Number.NaN },
      { key: 'short' },
      { search: ' ' },
      { search: 'x'.repeat(201) },
      { error_group: 'ZZZ' },
      { bulk_id: '0199' },
      { since: 'yesterday' },
      { since: '+275000-01-01T00:00:00Z' },
      { project: 'demo' },
      { other: 'x' },
    ])
      assert.deepEqual(parseRunFilter(search), {}, JSON.stringify(search));
  });

  it('prefers a range to fixed times, and counts it from now', () => {
    const filter = parseRunFilter({ range: '1h', since: '2030-01-01', until: '2030-01-02' });
    assert.deepEqual(filter, { range: '1h' });
    const now = Date.parse('2030-01-31T12:00:00Z');
    assert.deepEqual(runQuery(filter, now), { since: '2030-01-31T11:00:00.000Z' });
  });

  it('sends a text once it has three characters', () => {
    assert.deepEqual(runQuery({ search: 'no' }, 0), {});
    assert.deepEqual(runQuery({ search: 'not', scope: 'organization' }, 0), { search: 'not' });
  });

  it('distinguishes filters from the scope', () => {
    assert.equal(isFiltered({ scope: 'organization' }), false);
    assert.equal(isFiltered({ scope: 'organization', flow: 'hello' }), true);
  });

  it('says why failed runs cannot be retried when the API has no such filter', () => {
    assert.equal(findBulkObstacle('retry', { flow: 'hello', outcome: 'failed' }), undefined);
    assert.equal(findBulkObstacle('retry', { outcome: 'cancelled' }), undefined);
    assert.equal(findBulkObstacle('retry', { error_group: '4f0c2b9d1e7a' }), undefined);
    assert.match(findBulkObstacle('retry', { minCost: 1 }) ?? '', /cost or text/);
    assert.match(findBulkObstacle('retry', { bulk_id: BULK_ID }) ?? '', /one bulk retry/);
    assert.match(findBulkObstacle('retry', { version: 0 }) ?? '', /Runs of the draft/);
    assert.match(findBulkObstacle('retry', { outcome: 'completed' }) ?? '', /filter by Failed/);
    assert.match(findBulkObstacle('retry', { scope: 'organization' }) ?? '', /one project/);
  });

  it('says why runs cannot be cancelled when none is running, or the API has no such filter', () => {
    for (const status of [undefined, 'started', 'tool_calls_required', 'in_progress'] as const)
      assert.equal(findBulkObstacle('cancel', status ? { status } : {}), undefined);
    for (const outcome of ['completed', 'failed'] as const)
      assert.match(findBulkObstacle('cancel', { outcome }) ?? '', /filter by Running/);
    assert.match(findBulkObstacle('cancel', { search: '6a1f0c' }) ?? '', /cost or text/);
    assert.match(findBulkObstacle('cancel', { error_group: '4f0c2b9d1e7a' }) ?? '', /filter by Running/);
    assert.match(findBulkObstacle('cancel', { scope: 'organization' }) ?? '', /one project/);
  });

  it('names what limits the list but not the counts above it', () => {
    assert.deepEqual(uncountedFilters({ flow: 'a', outcome: 'failed', search: 'ab' }), []);
    const filter = { status: 'started', minCost: 0, search: 'abc' } as const;
    assert.deepEqual(uncountedFilters(filter), ['status', 'cost', 'text']);
  });
});
