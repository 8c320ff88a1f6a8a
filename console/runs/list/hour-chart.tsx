import { keepPreviousData } from '@tanstack/react-query';
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { $api } from '../../api/client.ts';
import { classes } from '../../ui/classes.ts';
import { ErrorNote } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { countedQuery, type RunFilter } from '../search.ts';
import style from './hour-chart.module.css';
import { type Bar, chartSpan, describeCounts, PARTS, type Span, toBars } from './hours.ts';

const POLL_MS = 60_000;

const time = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

type Props = {
  projectId: string;
  /** The filter of the list, with fixed times. */
  filter: RunFilter;
  /** Limits the list to these times; undefined: to none. */
  onPick: (times: { since: string; until: string } | undefined) => void;
};

/** How many runs started in each hour, by how they ended. A click picks an hour, and dragging several. */
export function HourChart({ projectId, filter, onPick }: Props) {
  const shown = useRef<Span>(undefined);
  const { since, until } = filter;
  const span = useMemo(() => chartSpan({ since, until }, Date.now(), shown.current), [since, until]);
  useEffect(() => {
    shown.current = span;
  }, [span]);
  const { data, error, refetch } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/runs/hours',
    {
      params: {
        path: { project_id: projectId },
        query: {
          ...countedQuery(filter),
          since: new Date(span.since).toISOString(),
          until: new Date(span.until).toISOString(),
        },
      },
    },
    { refetchInterval: POLL_MS, placeholderData: keepPreviousData },
  );
  const bars = useMemo(() => toBars(span, data?.hours ?? []), [span, data]);
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return <Bars bars={bars} picked={since && until ? { since, until } : undefined} onPick={onPick} />;
}

type BarsProps = {
  bars: Bar[];
  picked: { since: string; until: string } | undefined;
  onPick: Props['onPick'];
};

function Bars({ bars, picked, onPick }: BarsProps) {
  const group = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<number>();
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const most = Math.max(1, ...bars.map(({ total }) => total));
  const total = PARTS.map(({ id }) => [id, bars.reduce((sum, { counts }) => sum + counts[id], 0)] as const);
  const counts = Object.fromEntries(total) as Bar['counts'];
  const first = picked ? Date.parse(picked.since) : Number.NaN;
  const last = picked ? Date.parse(picked.until) : Number.NaN;
  const isPicked = (bar: Bar) => bar.since >= first && bar.until <= last;
  const stop = Math.min(active ?? bars.length - 1, bars.length - 1);

  function pick(from: number, to: number) {
    const [start, end] = [bars[Math.min(from, to)], bars[Math.max(from, to)]];
    if (!start || !end) return;
    const again = start.since === first && end.until === last;
    onPick(
      again
        ? undefined
        : { since: new Date(start.since).toISOString(), until: new Date(end.until).toISOString() },
    );
  }
  function move(event: KeyboardEvent) {
    const steps: Record<string, number> = {
      ArrowLeft: stop - 1,
      ArrowRight: stop + 1,
      Home: 0,
      End: bars.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const index = Math.min(bars.length - 1, Math.max(0, next));
    setActive(index);
    group.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus();
  }
  function indexAt({ clientX, clientY }: PointerEvent): number | undefined {
    const bar = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-index]');
    return bar && group.current?.contains(bar) ? Number(bar.dataset.index) : undefined;
  }
  function start(event: PointerEvent) {
    const index = indexAt(event);
    if (event.button === 0 && index !== undefined) setDrag({ from: index, to: index });
  }
  function extend(event: PointerEvent) {
    const index = drag && indexAt(event);
    if (drag && index !== undefined && index !== drag.to) setDrag({ ...drag, to: index });
  }
  function end() {
    // A click on one bar follows on its own.
    if (drag && drag.from !== drag.to) pick(drag.from, drag.to);
    setDrag(undefined);
  }
  const isDragged = (index: number) =>
    drag !== undefined && index >= Math.min(drag.from, drag.to) && index <= Math.max(drag.from, drag.to);

  return (
    <section className={style.chart} aria-label="Runs by hour">
      <p className={style.legend}>
        {PARTS.filter(({ id }) => id === 'completed' || id === 'failed' || counts[id] > 0).map(
          ({ id, name }) => (
            <span key={id} data-part={id}>
              {formatCount(counts[id])} {name}
            </span>
          ),
        )}
      </p>
      <div
        ref={group}
        role="toolbar"
        aria-label={`Hours, of which Enter picks one: ${describeCounts(counts, formatCount)}`}
        className={style.bars}
        onKeyDown={move}
        onPointerDown={start}
        onPointerMove={extend}
        onPointerUp={end}
        onPointerLeave={() => setDrag(undefined)}
      >
        {bars.map((bar, index) => {
          const label = `${time.format(bar.since)} – ${time.format(bar.until)}: ${describeCounts(bar.counts, formatCount)}`;
          return (
            <button
              key={bar.since}
              type="button"
              data-index={index}
              tabIndex={index === stop ? 0 : -1}
              aria-label={label}
              aria-pressed={isPicked(bar)}
              title={label}
              className={classes(style.bar, (isPicked(bar) || isDragged(index)) && style.picked)}
              onFocus={() => setActive(index)}
              onClick={() => pick(index, index)}
            >
              {PARTS.toReversed().map(
                ({ id }) =>
                  bar.counts[id] > 0 && (
                    <span key={id} data-part={id} style={{ height: `${(100 * bar.counts[id]) / most}%` }} />
                  ),
              )}
            </button>
          );
        })}
      </div>
      <p className={style.axis} aria-hidden>
        <span>{bars[0] && time.format(bars[0].since)}</span>
        <span>{time.format(bars.at(-1)?.until ?? 0)}</span>
      </p>
    </section>
  );
}
