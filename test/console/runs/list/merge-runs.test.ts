import assert from 'node:assert/strict';
import { insertRuns, type ListedRun, mergeRuns } from '../../../../console/runs/list/merge-runs.ts';

describe('the merged list of runs', () => {
  it('updates the states of rows', () => {
    const { rows, fresh } = mergeRuns([page([3, 2, 1])], page([{ at: 3, status: 'failed' }, 2, 1]));
    assert.deepEqual(names(rows), ['3', '2', '1']);
    assert.equal(rows[0]?.status, 'failed');
    assert.deepEqual(fresh, []);
  });

  it('keeps new runs apart until they are asked for, then inserts them in order', () => {
    const pages = [page([5, 3], true), page([2, 1])];
    const { rows, fresh, hasGap } = mergeRuns(pages, page([6, 5, 4, 3], true));
    assert.deepEqual(names(rows), ['5', '3', '2', '1']);
    assert.deepEqual(names(fresh), ['6', '4']);
    assert.equal(hasGap, false);
    assert.deepEqual(
      insertRuns(pages, fresh).map(({ runs }) => names(runs)),
      [
        ['6', '5', '4', '3'],
        ['2', '1'],
      ],
    );
  });

  it('does not count older runs of the next page as new', () => {
    const { rows, fresh } = mergeRuns([page([5, 4], true)], page([5, 3], true));
    assert.deepEqual(names(rows), ['5']);
    assert.deepEqual(names(fresh), []);
  });

  it('drops a row that no longer matches the filter', () => {
    assert.deepEqual(names(mergeRuns([page([3, 2, 1])], page([3, 1], true)).rows), ['3', '1']);
    assert.deepEqual(names(mergeRuns([page([3, 2, 1])], page([])).rows), []);
  });

  it('keeps every row when a page of a filter by cost is empty and others follow', () => {
    assert.deepEqual(names(mergeRuns([page([3, 2])], page([], true)).rows), ['3', '2']);
  });

  it('reports a gap when all of the newer page is new', () => {
    assert.equal(mergeRuns([page([1])], page([9, 8], true)).hasGap, true);
    assert.equal(mergeRuns([page([1])], page([9, 8, 1])).hasGap, false);
    assert.equal(mergeRuns([page([])], page([9, 8])).hasGap, false);
  });

  it('lists a run once that moved to the next page meanwhile', () => {
    assert.deepEqual(names(mergeRuns([page([3, 2], true), page([2, 1])], undefined).rows), ['3', '2', '1']);
  });
});

function page(runs: (number | { at: number; status: string })[], hasMore = false) {
  return {
    runs: runs.map((run) => {
      const { at, status } = typeof run === 'number' ? { at: run, status: 'started' } : run;
      return { executionId: String(at), startedAt: `2030-01-0${at}T00:00:00.000Z`, status } as ListedRun;
    }),
    hasMore,
    nextCursor: null,
  };
}

function names(runs: ListedRun[]): string[] {
  return runs.map(({ executionId }) => executionId);
}
