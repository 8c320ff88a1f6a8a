import { useVirtualizer } from '@tanstack/react-virtual';
import { Maximize2, ZoomIn, ZoomOut } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { formatDuration } from '../../ui/format.ts';
import { useNarrow } from '../../ui/use-narrow.ts';
import { SpanLine } from './span-line.tsx';
import { isOpenAtFirst, pathToSpan, type Span, type SpanRow, visibleSpans } from './spans.ts';
import { makeTimeScale, withRoom } from './time-scale.ts';
import style from './waterfall.module.css';

const ROW_PX = 28;
const ZOOM_MAX = 64;
const TICKS = 5;
/** The widths of a tick's label as shares of a lane that is not zoomed. */
const LABEL = 0.2;
const NARROW_LABEL = 0.36;

type Props = {
  root: Span;
  selectedId: string;
  onSelect: (span: Span) => void;
  /** Called when a span is opened by a click or Enter, and not just passed with an arrow key. */
  onOpen: () => void;
};

/** A run as bars over time, in a tree with arrow-key navigation. `+`, `-` and `0` zoom. */
export function Waterfall({ root, selectedId, onSelect, onOpen }: Props) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(1);
  const scroll = useRef<HTMLDivElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow(640);
  const rows = useMemo(() => visibleSpans(root, toggled), [root, toggled]);
  const scale = useMemo(() => makeTimeScale(root, leaves(root)), [root]);
  const ticks = withRoom(
    scale.ticks((isNarrow ? 2 : TICKS) * zoom),
    (isNarrow ? NARROW_LABEL : LABEL) / zoom,
  );
  const [activeId, setActiveId] = useState(selectedId);
  const active = Math.max(
    0,
    rows.findIndex(({ span }) => span.id === activeId),
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.span.id ?? index,
    overscan: 12,
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const shown = new Set([active]);
      for (
        let index = Math.max(0, startIndex - overscan);
        index <= Math.min(count - 1, endIndex + overscan);
        index++
      )
        shown.add(index);
      return [...shown].sort((a, b) => a - b);
    },
  });

  // A block that is selected elsewhere, such as on the graph or by a link, is opened and scrolled into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another choice does so
  useEffect(() => {
    setActiveId(selectedId);
    const around = pathToSpan(root, ({ id }) => id === selectedId)?.slice(0, -1) ?? [];
    const closed = around.filter((span) => isOpenAtFirst(span) === toggled.has(span.id));
    if (closed.length > 0) setToggled(flip(toggled, closed));
  }, [selectedId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    const index = rows.findIndex(({ span }) => span.id === selectedId);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
  }, [selectedId, toggled]);

  function changeZoom(next: number) {
    const pane = scroll.current;
    const to = Math.min(ZOOM_MAX, Math.max(1, next));
    const middle = pane ? (pane.scrollLeft + pane.clientWidth / 2) / pane.scrollWidth : 0;
    setZoom(to);
    requestAnimationFrame(() => {
      if (pane) pane.scrollLeft = middle * pane.scrollWidth - pane.clientWidth / 2;
    });
  }
  function toggle(span: Span) {
    setToggled(flip(toggled, [span]));
  }
  function choose(span: Span) {
    setActiveId(span.id);
    if (!span.execution && span.kind !== 'run') return toggle(span);
    onSelect(span);
    onOpen();
  }
  function moveTo(index: number) {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    setActiveId(row.span.id);
    if (row.span.execution || row.span.kind === 'run') onSelect(row.span);
    virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    requestAnimationFrame(() =>
      scroll.current
        ?.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')
        ?.focus({ preventScroll: true }),
    );
  }
  function press(event: KeyboardEvent<HTMLElement>) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keyAction(event.key, rows, active);
    if (!act) return;
    event.preventDefault();
    if (act.zoom !== undefined) changeZoom(act.zoom === 0 ? 1 : zoom * act.zoom);
    else if (act.toggle) toggle(act.toggle);
    else if (act.to !== undefined) moveTo(act.to);
  }
  function showTime(event: React.PointerEvent<HTMLElement>) {
    const line = cursor.current;
    const lane = scroll.current?.querySelector(`.${style.axis}`)?.getBoundingClientRect();
    if (!line || !lane) return;
    const at = (event.clientX - lane.left) / lane.width;
    const isOver = at >= 0 && at <= 1 && event.pointerType === 'mouse';
    line.style.display = isOver ? '' : 'none';
    line.style.left = `${at * 100}%`;
    line.dataset.time = `+${formatDuration(scale.timeAt(at) - scale.start)}`;
  }

  return (
    <div className={style.waterfall}>
      <div className={style.tools}>
        <IconButton label="Zoom in (+)" size="small" onPress={() => changeZoom(zoom * 2)}>
          <ZoomIn size={14} />
        </IconButton>
        <IconButton
          label="Zoom out (-)"
          size="small"
          isDisabled={zoom === 1}
          onPress={() => changeZoom(zoom / 2)}
        >
          <ZoomOut size={14} />
        </IconButton>
        <IconButton
          label="Show all of the time (0)"
          size="small"
          isDisabled={zoom === 1}
          onPress={() => changeZoom(1)}
        >
          <Maximize2 size={14} />
        </IconButton>
      </div>
      <div className={style.scroll} ref={scroll} onPointerMove={showTime} onPointerLeave={showTime}>
        <div className={style.content} style={{ '--zoom': zoom } as React.CSSProperties}>
          <div className={style.head} aria-hidden>
            <span className={style.corner} />
            <div className={style.axis}>
              {ticks.map(({ ms, at }) => (
                <span key={ms} className={style.tick} style={{ left: `${at * 100}%` }}>
                  {ms === 0 ? '0' : formatDuration(ms)}
                </span>
              ))}
              <div ref={cursor} className={style.cursor} style={{ display: 'none' }} />
            </div>
            <span className={style.end} />
          </div>
          <div
            role="tree"
            aria-label="Blocks of the run over time"
            className={style.rows}
            style={{ height: virtual.getTotalSize() }}
            onKeyDown={press}
          >
            {virtual.getVirtualItems().map(({ index, key, start }) => (
              <SpanLine
                key={key}
                row={rows[index] as SpanRow}
                top={start}
                scale={scale}
                isActive={index === active}
                isSelected={rows[index]?.span.id === selectedId}
                onChoose={choose}
                onToggle={toggle}
              />
            ))}
          </div>
        </div>
      </div>
      <Gaps
        hasWaits={leaves(root).some(({ ready, start }) => start > ready)}
        hasCuts={scale.cuts.length > 0}
      />
    </div>
  );
}

/** Explains the gaps between blocks; nothing when there are none. */
function Gaps({ hasWaits, hasCuts }: { hasWaits: boolean; hasCuts: boolean }) {
  if (!hasWaits && !hasCuts) return null;
  return (
    <p className={style.gaps}>
      {hasWaits && 'Dotted: the block waited for its turn, a worker or another attempt. '}
      {hasCuts && 'Hatched: waiting or failed attempts. This time is drawn short.'}
    </p>
  );
}

type Action = { to?: number; toggle?: Span; zoom?: number };

function keyAction(key: string, rows: SpanRow[], at: number): Action | undefined {
  const row = rows[at];
  if (!row) return undefined;
  const { isOpen, depth, span } = row;
  if (key === 'ArrowDown') return { to: at + 1 };
  if (key === 'ArrowUp') return { to: at - 1 };
  if (key === 'Home') return { to: 0 };
  if (key === 'End') return { to: rows.length - 1 };
  if (key === 'ArrowRight') return isOpen || span.children.length === 0 ? { to: at + 1 } : { toggle: span };
  if (key === 'ArrowLeft')
    return isOpen
      ? { toggle: span }
      : { to: rows.findLastIndex((row, index) => index < at && row.depth < depth) };
  if (key === '+' || key === '=') return { zoom: 2 };
  if (key === '-') return { zoom: 0.5 };
  return key === '0' ? { zoom: 0 } : undefined;
}

function flip(toggled: ReadonlySet<string>, spans: readonly Span[]): Set<string> {
  const next = new Set(toggled);
  for (const { id } of spans) if (!next.delete(id)) next.add(id);
  return next;
}

function leaves(span: Span): Span[] {
  return span.execution ? [span] : span.children.flatMap(leaves);
}
