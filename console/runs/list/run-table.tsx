// biome-ignore-all lint/a11y/useSemanticElements: rows are placed by script, which elements of tables do not allow
// biome-ignore-all lint/a11y/useFocusableInteractive: the link of a row has the focus
import { useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { classes } from '../../ui/classes.ts';
import { ErrorNote, type Paged } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { useNarrow } from '../../ui/use-narrow.ts';
import type { RunFilter } from '../search.ts';
import type { ListedRun } from './merge-runs.ts';
import { RunRow } from './run-row.tsx';
import style from './run-table.module.css';

const ROW_PX = 38;
const NARROW_ROW_PX = 60;
const MORE_WITHIN_ROWS = 30;
const COUNTED_FROM_ROWS = 20;
/** The id of the scroll container, for scroll restoration. */
const SCROLL_ID = 'runs';

type Props = {
  rows: ListedRun[];
  keyNames: ReadonlyMap<string, string>;
  nameOfUser: (userId: string) => string;
  filter: RunFilter;
  /** The query of the rows. `isPlaceholderData`: they belong to the previous filter, shown until the new ones are loaded. */
  list: Paged & { isPlaceholderData: boolean };
};

/** Runs as rows of one line (two in narrow windows). Only visible rows are rendered. */
export function RunTable({ rows, keyNames, nameOfUser, filter, list }: Props) {
  const {
    isPlaceholderData: isOutdated,
    hasNextPage: hasMore,
    isFetchingNextPage: isFetchingMore,
    fetchNextPage: fetchMore,
  } = list;
  // A page that failed is not fetched again until the user asks.
  const moreError = list.isFetchNextPageError ? (list.error as Error) : null;
  const isOrganization = filter.scope === 'organization';
  const scroll = useRef<HTMLDivElement>(null);
  const initialOffset = useElementScrollRestoration({ id: SCROLL_ID })?.scrollY ?? 0;
  const isNarrow = useNarrow(1_120);
  const [activeId, setActiveId] = useState<string>();
  const active = Math.max(
    0,
    rows.findIndex(({ executionId }) => executionId === activeId),
  );
  const virtual = useVirtualizer({
    count: rows.length,
    initialOffset,
    getScrollElement: () => scroll.current,
    estimateSize: () => (isNarrow ? NARROW_ROW_PX : ROW_PX),
    getItemKey: (index) => rows[index]?.executionId ?? index,
    overscan: 10,
    // The focused row stays rendered when it is scrolled away.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const first = Math.max(0, startIndex - overscan);
      const last = Math.min(count - 1, endIndex + overscan);
      const shown = Array.from({ length: last - first + 1 }, (_, index) => first + index);
      if (active >= first && active <= last) return shown;
      return active < first ? [active, ...shown] : [...shown, active];
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew
  useEffect(() => virtual.measure(), [isNarrow]);
  const items = virtual.getVirtualItems();
  const end = virtual.range?.endIndex ?? 0;
  useEffect(() => {
    if (hasMore && !isOutdated && !isFetchingMore && !moreError && end >= rows.length - MORE_WITHIN_ROWS)
      void fetchMore();
  }, [hasMore, isOutdated, isFetchingMore, moreError, end, rows.length, fetchMore]);

  function move(event: KeyboardEvent<HTMLDivElement>) {
    const page = Math.floor((scroll.current?.clientHeight ?? 0) / ROW_PX) - 1;
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = Math.min(rows.length - 1, Math.max(0, active + step));
    setActiveId(rows[index]?.executionId);
    virtual.scrollToIndex(index);
    requestAnimationFrame(() =>
      scroll.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus({ preventScroll: true }),
    );
  }

  return (
    <div
      className={classes(style.table, isOrganization && style.organization, isOutdated && style.outdated)}
      aria-busy={isOutdated}
      ref={scroll}
      data-scroll-restoration-id={SCROLL_ID}
    >
      <div role="table" aria-label="Runs" aria-rowcount={hasMore ? -1 : rows.length + 1} onKeyDown={move}>
        <div role="row" aria-rowindex={1} className={style.head}>
          {['Status', 'Run', 'Flow', 'Started by', 'Started', 'Duration', 'Credits'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
        <div role="rowgroup" className={style.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <RunRow
              key={key}
              run={rows[index] as ListedRun}
              index={index}
              start={start}
              isActive={index === active}
              isOrganization={isOrganization}
              filter={filter}
              keyNames={keyNames}
              nameOfUser={nameOfUser}
              onFocus={setActiveId}
            />
          ))}
        </div>
      </div>
      <p className={style.foot} role="status">
        {isOutdated
          ? 'Loading runs …'
          : isFetchingMore
            ? 'Loading older runs …'
            : !hasMore && rows.length >= COUNTED_FROM_ROWS && `${formatCount(rows.length)} runs`}
      </p>
      {moreError && !isFetchingMore && <ErrorNote error={moreError} onRetry={() => void fetchMore()} />}
    </div>
  );
}
