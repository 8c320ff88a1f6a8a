import { memo, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { Loading } from '../ui/feedback.tsx';
import { formatCompact, formatCount, formatCredits, formatDuration } from '../ui/format.ts';
import { Panel } from '../ui/page.tsx';
import { listDays } from './search.ts';
import style from './usage.module.css';
import type { Entry } from './usage-columns.ts';
import 'uplot/dist/uPlot.min.css';
import { axisWidth } from './axis-width.ts';

type Series = { name: string; token: string; values: (number | null)[] };

type DayChartProps = {
  /** Days in UTC, in order. */
  days: string[];
  series: Series[];
  kind: 'bars' | 'lines';
  /** Formats a value of the axis and of the legend. */
  show: (value: number) => string;
  isWhole?: boolean;
  label: string;
};

const CHART_HEIGHT_PX = 150;

/** Tick steps of an axis of whole numbers. */
const WHOLE_STEPS = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 10 }, (_, power) => digit * 10 ** power))
  .sort((a, b) => a - b);

const UTC = 'Etc/UTC';
const axisDay = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: UTC });

const legendDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: UTC });

/** A chart over days. The table of the page has the same numbers as text. */
const DayChart = memo(function DayChart(props: DayChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const theme = useThemeCount();
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew when the theme changes
  useEffect(() => {
    const target = frame.current;
    if (!target) return;
    const chart = new uPlot(optionsOf(props, target), dataOf(props), target);
    const resized = new ResizeObserver(() =>
      chart.setSize({ width: target.clientWidth, height: CHART_HEIGHT_PX }),
    );
    resized.observe(target);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [props, theme]);
  return <div ref={frame} role="img" aria-label={props.label} className={style.chart} />;
});

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

function dataOf({ days, series }: DayChartProps): uPlot.AlignedData {
  return [days.map((day) => Date.parse(day) / 1_000), ...series.map(({ values }) => values)];
}

function optionsOf({ series, kind, show, isWhole }: DayChartProps, target: HTMLElement): uPlot.Options {
  const line = colorOf(target, '--line');
  const text = colorOf(target, '--text-soft');
  const axis = {
    stroke: text,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 28] });
  return {
    width: target.clientWidth,
    height: CHART_HEIGHT_PX,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), UTC),
    // The legend shows the last day unless the pointer is over another.
    hooks: { ready: [showLastDay], setCursor: [showLastDay] },
    cursor: { points: { show: kind === 'lines' }, drag: { x: false, y: false } },
    scales: { y: { range: (_chart, _min, max) => [0, (max || 1) * 1.1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        values: (_chart, ticks) => ticks.map((at) => axisDay.format(at * 1_000)),
      },
      {
        ...axis,
        size: (_chart, labels) => axisWidth(labels),
        ...(isWhole && { incrs: WHOLE_STEPS }),
        values: (_chart, ticks) => ticks.map(show),
      },
    ],
    series: [
      { label: 'Day', value: (_chart, at) => (at === null ? '' : legendDay.format(at * 1_000)) },
      ...series.map(({ name, token }) => {
        const color = colorOf(target, token);
        return {
          label: name,
          stroke: color,
          width: kind === 'bars' ? 0 : 1.5,
          points: { size: 5 },
          ...(kind === 'bars' && { fill: color, ...(bars && { paths: bars }), points: { show: false } }),
          value: (_chart: uPlot, value: number | null) => (value === null ? '—' : show(value)),
        };
      }),
    ],
  };
}

function showLastDay(chart: uPlot): void {
  if (typeof chart.cursor.idx !== 'number') chart.setLegend({ idx: chart.data[0].length - 1 }, false);
}

/** Resolves a colour of `tokens.css` in the current theme. */
function colorOf(target: HTMLElement, token: string): string {
  const probe = target.appendChild(document.createElement('span'));
  probe.style.color = `var(${token})`;
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** Counts changes between light and dark. */
function useThemeCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const changed = () => setCount((before) => before + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', changed);
    const chosen = new MutationObserver(changed);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', changed);
      chosen.disconnect();
    };
  }, []);
  return count;
}
