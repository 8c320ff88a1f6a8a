import assert from 'node:assert/strict';
import { type Bar, chartSpan, describeCounts, HOUR_MS, toBars } from '../../../../console/runs/list/hours.ts';

const NOW = Date.parse('2030-01-31T12:20:00Z');
const at = (text: string) => Date.parse(`${text}:00Z`);
const span = (filter: { since?: string; until?: string }, shown?: Parameters<typeof chartSpan>[2]) => {
  const { since, until } = chartSpan(filter, NOW, shown);
  return [since, until].map((time) => new Date(time).toISOString().slice(0, 16));
};

describe('the chart of hours', () => {
  it('shows the last day, unless the filter names a longer time', () => {
    assert.deepEqual(span({}), ['2030-01-30T13:00', '2030-01-31T13:00']);
    assert.deepEqual(span({ since: '2030-01-31T12:00:00Z' }), ['2030-01-30T13:00', '2030-01-31T13:00']);
    assert.deepEqual(span({ since: '2030-01-28T12:00:00Z' }), ['2030-01-28T12:00', '2030-01-31T13:00']);
    assert.deepEqual(span({ until: '2030-01-20T12:00:00Z' }), ['2030-01-19T12:00', '2030-01-20T12:00']);
  });

  it('shows a short time among the hours around it, up to now', () => {
    const hour = { since: '2030-01-20T12:00:00Z', until: '2030-01-20T13:00:00Z' };
    assert.deepEqual(span(hour), ['2030-01-20T01:00', '2030-01-21T01:00']);
    const last = { since: '2030-01-31T12:00:00Z', until: '2030-01-31T13:00:00Z' };
    assert.deepEqual(span(last), ['2030-01-30T13:00', '2030-01-31T13:00']);
  });

  it('shows at most 31 days', () => {
    assert.deepEqual(span({ since: '2029-01-01T00:00:00Z' }), ['2029-12-31T13:00', '2030-01-31T13:00']);
  });

  it('stays when an hour in it is picked', () => {
    const shown = { since: at('2030-01-30T13:00'), until: at('2030-01-31T13:00') };
    const hour = { since: '2030-01-30T14:00:00Z', until: '2030-01-30T15:00:00Z' };
    assert.deepEqual(span(hour, shown), ['2030-01-30T13:00', '2030-01-31T13:00']);
  });

  it('has a bar for each hour, or for several hours of a long time', () => {
    const hour = (time: string, failed: number) => ({
      ...{ hour: `${time}:00.000Z`, completed: 1, open: 0, cancelled: 0, refused: 0, failed },
    });
    const day = { since: at('2030-01-30T13:00'), until: at('2030-01-31T13:00') };
    const bars = toBars(day, [
      hour('2030-01-30T13:00', 2),
      hour('2030-01-31T12:00', 0),
      hour('2030-02-01T00:00', 9),
    ]);
    assert.equal(bars.length, 24);
    assert.deepEqual([bars[0]?.total, bars[1]?.total, bars[23]?.total], [3, 0, 1]);
    const week = toBars({ since: day.until - 7 * 24 * HOUR_MS, until: day.until }, [
      hour('2030-01-31T11:00', 1),
      hour('2030-01-31T12:00', 1),
    ]);
    assert.deepEqual([week.length, week.at(-1)?.total], [84, 4]);
    assert.equal(toBars({ since: day.until - 31 * 24 * HOUR_MS, until: day.until }, []).length, 62);
  });

  it('says in words what a bar counts', () => {
    const none: Bar['counts'] = { completed: 0, open: 0, cancelled: 0, refused: 0, failed: 0 };
    assert.equal(describeCounts(none, String), 'no runs');
    assert.equal(describeCounts({ ...none, completed: 3, failed: 2 }, String), '3 completed, 2 failed');
  });
});
