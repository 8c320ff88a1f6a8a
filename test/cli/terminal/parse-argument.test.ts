import assert from 'node:assert/strict';
import { searchFilter } from '../../../api/runs/run-filters.ts';
import { parseField, parseFutureDate } from '../../../cli/terminal/parse-argument.ts';

describe('a date on which something expires', () => {
  it('is a day in UTC, or a time with its offset', () => {
    assert.equal(parseFutureDate('2999-01-31').toISOString(), '2999-01-31T00:00:00.000Z');
    assert.equal(parseFutureDate('2999-01-31T12:00:00+02:00').toISOString(), '2999-01-31T10:00:00.000Z');
    for (const text of ['2999-01-31T12:00:00', '2999-01-31 12:00', 'tomorrow'])
      assert.throws(() => parseFutureDate(text), /date, or a time with its offset, e\.g\. 2030-01-31/);
  });

  it('is in the future', () => {
    assert.throws(() => parseFutureDate('2020-01-31'), /in the past/);
  });
});

describe('an option that the service takes as a field of a query', () => {
  it('is refused in the words of the service', () => {
    assert.throws(() => parseField(searchFilter)('ab'), /^\w+: It must have at least 3 characters\.$/);
  });
});
