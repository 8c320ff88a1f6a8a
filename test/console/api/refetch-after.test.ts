import assert from 'node:assert/strict';
import { QueryClient } from '@tanstack/react-query';
import { ApiError, timedOut, unreachable } from '../../../console/api/api-error.ts';
import { queryCache, refetchAfter } from '../../../console/api/query-options.ts';

const POLL_MS = 4_000;
const client = new QueryClient({ queryCache });

describe('the query of a page', () => {
  after(() => client.clear());

  it('is repeated at growing intervals after an outage, even without polling', async () => {
    const { read, fail } = makeQuery('shown');
    assert.deepEqual(await read(), [false, POLL_MS]);
    for (const error of [unreachable('GET'), timedOut('GET')]) {
      for (const again of [10_000, 20_000, 40_000, 60_000, 60_000])
        assert.deepEqual(await fail(error), [again, again]);
      assert.deepEqual(await read(), [false, POLL_MS]);
    }
  });

  it('is not repeated when the service refused it', async () => {
    const { read, fail } = makeQuery('refused');
    await read();
    assert.deepEqual(await fail(new ApiError(404, { code: 'NOT_FOUND', message: 'Gone.' })), [
      false,
      POLL_MS,
    ]);
  });

  it('is not repeated before its first success', async () => {
    const { fail } = makeQuery('never came');
    assert.deepEqual(await fail(unreachable('GET')), [false, POLL_MS]);
  });
});

/** Creates a query whose fetches end as given, each time it is read. */
function makeQuery(name: string) {
  async function fetch(queryFn: () => Promise<string>) {
    await client.prefetchQuery({ queryKey: [name], queryFn });
    const query = queryCache.find({ queryKey: [name] });
    assert.ok(query);
    return [refetchAfter(query), refetchAfter(query, POLL_MS)];
  }
  return {
    read: () => fetch(() => Promise.resolve('data')),
    fail: (error: Error) => fetch(() => Promise.reject(error)),
  };
}
