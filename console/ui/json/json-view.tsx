import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight } from 'lucide-react';
import { type KeyboardEvent, lazy, Suspense, useDeferredValue, useMemo, useRef, useState } from 'react';
import { classes } from '../classes.ts';
import { CopyButton } from '../code-block.tsx';
import { formatCount } from '../format.ts';
import { isMarkdown } from '../markdown/is-markdown.ts';
import { findInJson, type JsonRow, jsonRows, openDepthOf, pathsAround } from './json-rows.ts';
import style from './json-view.module.css';

const MarkdownView = lazy(() =>
  import('../markdown/markdown-view.tsx').then(({ MarkdownView }) => ({ default: MarkdownView })),
);

const ROW_PX = 20;
const SEARCH_FROM_ROWS = 12;
const TEXT_MAX_CHARS = 4_000;
const MORE_FACTOR = 4;

/** Shows a JSON value, with collapsing, search and copying. `label` names it, such as `Output`. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState('');
  const scroll = useRef<HTMLDivElement>(null);
  const openDepth = useMemo(() => openDepthOf(value), [value]);
  const needle = useDeferredValue(search);
  const found = useMemo(() => new Set(findInJson(value, needle)), [value, needle]);
  const rows = useMemo(() => {
    const shown = jsonRows(value, toggled, openDepth);
    if (found.size === 0) return shown;
    const around = pathsAround(found);
    return jsonRows(value, withOpen(shown, around, toggled, openDepth), openDepth);
  }, [value, toggled, openDepth, found]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.path ?? index,
    overscan: 12,
  });

  function toggle(path: string) {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  }
  function move(event: KeyboardEvent<HTMLElement>) {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = buttons[at + (event.key === 'ArrowDown' ? 1 : -1)];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.focus();
  }

  return (
    <div className={style.view}>
      <div className={style.bar}>
        {(rows.length >= SEARCH_FROM_ROWS || search !== '') && (
          <>
            <input
              type="search"
              aria-label={`Search in ${label}`}
              placeholder="Search"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
            <span role="status" className={style.faint}>
              {search !== '' && `${found.size >= 1_000 ? '1,000+' : found.size} found`}
            </span>
          </>
        )}
        <CopyButton
          text={() => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))}
          label={`Copy ${label}`}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <section ref={scroll} className={style.scroll} onKeyDown={move} tabIndex={0} aria-label={label}>
        <div className={style.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index] as JsonRow;
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={classes(style.row, found.has(row.path) && style.found)}
                style={{ transform: `translateY(${start}px)`, paddingInlineStart: row.depth * 14 }}
              >
                <Line row={row} onToggle={() => toggle(row.path)} />
              </div>
            );
          })}
        </div>
      </section>
    </div>
  );
}

function Line({ row, onToggle }: { row: JsonRow; onToggle: () => void }) {
  const [length, setLength] = useState(TEXT_MAX_CHARS);
  // A text inside an object stays compact until the reader asks.
  const [asMarkdown, setMarkdown] = useState(row.depth === 0);
  const name = row.name !== undefined && <span className={style.name}>{row.name}: </span>;
  if (row.value === undefined && row.kind !== 'null') {
    const brackets = row.kind === 'array' ? '[]' : '{}';
    if (row.count === 0)
      return (
        <span className={style.leaf}>
          {name}
          {brackets}
        </span>
      );
    return (
      <button type="button" className={style.fold} aria-expanded={row.isOpen} onClick={onToggle}>
        <ChevronRight size={12} className={classes(row.isOpen && style.open)} aria-hidden />
        {name}
        <span className={style.faint}>
          {brackets[0]}
          {row.isOpen ? '' : '…'}
          {row.isOpen ? '' : brackets[1]} {row.count}
          {row.isText && ', JSON in a text'}
        </span>
      </button>
    );
  }
  const text = row.kind === 'string' ? String(row.value) : JSON.stringify(row.value ?? null);
  const shown = text.slice(0, length);
  const plain = (
    <span className={style[row.kind]} dir="auto">
      {shown}
    </span>
  );
  const mayBeMarkdown = row.kind === 'string' && isMarkdown(text);
  return (
    <div className={style.leaf}>
      {name}
      {mayBeMarkdown && (
        <button type="button" className={style.more} onClick={() => setMarkdown(!asMarkdown)}>
          {asMarkdown ? 'Show as text' : 'Show as Markdown'}
        </button>
      )}
      {mayBeMarkdown && ' '}
      {mayBeMarkdown && asMarkdown ? (
        <Suspense fallback={plain}>
          <MarkdownView text={shown} />
        </Suspense>
      ) : (
        plain
      )}
      {text.length > length && (
        <button type="button" className={style.more} onClick={() => setLength(length * MORE_FACTOR)}>
          … {formatCount(text.length - length)} more characters
        </button>
      )}
    </div>
  );
}

/** Returns the toggled paths with which all of `around` are open. */
function withOpen(
  rows: JsonRow[],
  around: ReadonlySet<string>,
  toggled: ReadonlySet<string>,
  openDepth: number,
): Set<string> {
  const next = new Set(toggled);
  const shown = new Map(rows.map((row) => [row.path, row]));
  for (const path of around) {
    const depth = path.split('/').length - 1;
    if (shown.get(path)?.isOpen) continue;
    if (depth < openDepth) next.delete(path);
    else next.add(path);
  }
  return next;
}
