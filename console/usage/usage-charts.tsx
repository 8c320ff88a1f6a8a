import { useMemo } from 'react';
import { formatCompact, formatCount, formatCredits, formatDuration } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { Panel } from '../ui/page.tsx';
import { DayChart } from './day-chart.tsx';
import { listDays } from './search.ts';
import style from './usage.module.css';
import type { Entry } from './usage-columns.ts';

type Props = {
  range: { from: string; to: string };
  /** Undefined while they are loading; the charts keep their space. */
  entries: Entry[] | undefined;
};

/** Charts of the usage by day. Days without usage count as zero. */
export function UsageCharts({ range, entries }: Props) {
  const { from, to } = range;
  const { days, pick } = useMemo(() => {
    const days = listDays({ from, to });
    const byDay = new Map(entries?.map((entry) => [entry.day, entry]));
    const pick = (value: (entry: Entry) => number | null | undefined, absent: number | null = 0) =>
      days.map((day) => {
        const entry = byDay.get(day);
        return entry ? (value(entry) ?? absent) : absent;
      });
    return { days, pick };
  }, [from, to, entries]);
  const charts = useMemo(
    () => [
      {
        title: 'Credits',
        kind: 'bars' as const,
        show: formatCredits,
        series: [{ name: 'Credits', token: '--accent', values: pick(({ credits }) => credits) }],
      },
      {
        title: 'Runs',
        kind: 'bars' as const,
        show: formatCount,
        isWhole: true,
        // Failed runs are part of the runs, and drawn over them.
        series: [
          { name: 'Runs', token: '--busy', values: pick(({ runs }) => runs) },
          { name: 'Failed', token: '--bad', values: pick(({ failedRuns }) => failedRuns) },
        ],
      },
      {
        title: 'How long runs took',
        kind: 'lines' as const,
        show: formatDuration,
        series: [
          { name: 'p50', token: '--good', values: pick(({ runLatencyMs }) => runLatencyMs?.p50, null) },
          { name: 'p95', token: '--warn', values: pick(({ runLatencyMs }) => runLatencyMs?.p95, null) },
          { name: 'p99', token: '--bad', values: pick(({ runLatencyMs }) => runLatencyMs?.p99, null) },
        ],
      },
      {
        title: 'Tokens',
        kind: 'lines' as const,
        show: formatCompact,
        series: [
          { name: 'In', token: '--busy', values: pick(({ promptTokens }) => promptTokens) },
          { name: 'Out', token: '--kind-llm', values: pick(({ completionTokens }) => completionTokens) },
        ],
      },
      {
        title: 'How long model calls took',
        kind: 'lines' as const,
        show: formatDuration,
        series: [
          { name: 'p50', token: '--good', values: pick(({ modelLatencyMs }) => modelLatencyMs?.p50, null) },
          { name: 'p95', token: '--warn', values: pick(({ modelLatencyMs }) => modelLatencyMs?.p95, null) },
        ],
      },
      {
        title: 'Requests refused (429)',
        kind: 'bars' as const,
        show: formatCount,
        isWhole: true,
        series: [{ name: 'Refused', token: '--warn', values: pick(({ refused }) => refused) }],
      },
    ],
    [pick],
  );
  return (
    <div className={style.charts}>
      {charts.map(({ title, ...chart }) => (
        <Panel key={title} title={title}>
          {entries ? (
            <DayChart
              {...chart}
              days={days}
              label={`${title} by day, from ${from} to ${to}. The table below has the numbers.`}
            />
          ) : (
            <div className={style.chart}>
              <Loading />
            </div>
          )}
        </Panel>
      ))}
    </div>
  );
}
