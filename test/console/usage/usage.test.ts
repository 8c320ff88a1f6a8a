import assert from 'node:assert/strict';
import { axisWidth } from '../../../console/usage/axis-width.ts';
import { daysOf, listDays, readUsageSearch } from '../../../console/usage/search.ts';
import { toCsv } from '../../../console/usage/usage-columns.ts';

describe('the range of the usage', () => {
  it('ends today, in UTC, and has its number of days', () => {
    const range = daysOf('7d', Date.parse('2026-03-02T00:00:01Z'));
    assert.deepEqual(range, { from: '2026-02-24', to: '2026-03-02' });
    assert.equal(listDays(range).length, 7);
    assert.deepEqual(listDays({ from: '2026-02-27', to: '2026-03-01' }), [
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ]);
  });
});

describe('the search parameters of the usage', () => {
  it('are kept when they are known, and dropped otherwise', () => {
    const search = { range: '90d', by: 'model', project: 'main' };
    assert.deepEqual(readUsageSearch(search), search);
    assert.deepEqual(readUsageSearch({ range: 'valueOf', by: 'mood', project: 'A B' }), {});
  });
});

describe('usage as CSV', () => {
  it('quotes commas, quotes and line ends, and leaves unknown numbers empty', () =>
    assert.equal(
      toCsv(
        ['key', 'Runs'],
        [
          ['a, "b"\nc', 3],
          ['d', null],
        ],
      ),
      'key,Runs\r\n"a, ""b""\nc",3\r\nd,\r\n',
    ));
  it('has no cell that a spreadsheet reads as a formula, and keeps negative numbers', () =>
    assert.equal(toCsv(['key'], [['=1+1'], ['@x'], [-3]]), "key\r\n'=1+1\r\n'@x\r\n-3\r\n"));
});

describe('an axis of a chart of the usage', () => {
  it('fits its longest label, and has a minimum width', () => {
    const narrowest = axisWidth(null);
    assert.equal(axisWidth(['0', '50']), narrowest);
    assert.ok(axisWidth(['0 ms', '2 min 30 s']) > narrowest);
  });
});
