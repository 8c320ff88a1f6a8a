// biome-ignore-all lint/a11y/useSemanticElements: rows are placed by script, which elements of tables do not allow
// biome-ignore-all lint/a11y/useFocusableInteractive: the link of a row has the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the link of a row is what keys follow
import { Link } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { type MouseEvent, memo } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { formatCredits, formatDuration, shortId } from '../../ui/format.ts';
import { Elapsed, Time } from '../../ui/time.tsx';
import { MODE_NAMES, versionName } from '../run.ts';
import { nameList, type RunFilter } from '../search.ts';
import type { ListedRun } from './merge-runs.ts';
import style from './run-table.module.css';

type Props = {
  run: ListedRun;
  index: number;
  start: number;
  isActive: boolean;
  isOrganization: boolean;
  filter: RunFilter;
  keyNames: ReadonlyMap<string, string>;
  nameOfUser: (userId: string) => string;
  onFocus: (executionId: string) => void;
};

/** The target of a link to a run of the flow of `run`. */
const toRun = ({ organization: org, project, flow }: ListedRun, executionId: string, filter: RunFilter) => ({
  to: '/orgs/$org/projects/$project/flows/$flow/runs/$executionId' as const,
  params: { org, project, flow, executionId },
  search: { list: nameList(filter) },
  preload: false as const,
});

/** A row of the list. All of it is a link to the run's page. */
export const RunRow = memo(function RunRow(props: Props) {
  const { run, index, start, isActive, isOrganization, filter, keyNames, nameOfUser, onFocus } = props;
  const by = run.keyId ? (keyNames.get(run.keyId) ?? run.keyId) : run.startedBy && nameOfUser(run.startedBy);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      className={style.row}
      style={{ transform: `translateY(${start}px)` }}
      onClick={followRow}
    >
      <span role="cell" className={style.status}>
        <StatusBadge status={run.outcome ?? run.status} />
      </span>
      <span role="cell" className={style.id}>
        <Link
          {...toRun(run, run.executionId, filter)}
          tabIndex={isActive ? 0 : -1}
          title={run.executionId}
          onFocus={() => onFocus(run.executionId)}
        >
          {shortId(run.executionId)}
        </Link>
      </span>
      <span role="cell" className={style.flow}>
        <span className={style.line}>
          <span className={style.name}>
            {isOrganization && <span className={style.faint}>{run.project} / </span>}
            {run.flow} <span className={style.faint}>{versionName(run.version)}</span>
          </span>
          {filter.bulk_id && run.repeats && (
            <Link
              {...toRun(run, run.repeats, {})}
              tabIndex={-1}
              className={style.again ?? ''}
              title={`Retry of ${run.repeats}`}
            >
              retry of {shortId(run.repeats)}
            </Link>
          )}
          {run.repeatedBy && (
            <Link
              {...toRun(run, run.repeatedBy, filter)}
              tabIndex={-1}
              className={style.again ?? ''}
              title={`Run again as ${run.repeatedBy}`}
              aria-label={`run again as ${shortId(run.repeatedBy)}`}
            >
              <RotateCcw size={11} aria-hidden /> <span className={style.words}>run again as </span>
              {shortId(run.repeatedBy)}
            </Link>
          )}
        </span>
        {run.code && run.code !== 'CANCELLED' && (
          <span className={style.error} title={run.errorMessage}>
            {run.errorMessage ?? run.code}
          </span>
        )}
      </span>
      <span role="cell" className={style.by} title={run.keyId ?? run.startedBy ?? undefined}>
        {by ? `${MODE_NAMES[run.mode]} · ${by}` : MODE_NAMES[run.mode]}{' '}
        {run.environment === 'test' && run.keyId && <Badge>test</Badge>}
      </span>
      <span role="cell" className={style.started}>
        <Time at={run.startedAt} />
      </span>
      <span role="cell" className={style.number}>
        {run.status === 'started' ? (
          <Elapsed from={run.startedAt} />
        ) : run.durationMs === null ? (
          '—'
        ) : (
          formatDuration(run.durationMs)
        )}
      </span>
      <span role="cell" className={style.cost}>
        {formatCredits(run.cost)}
        <span className={style.unit}> credits</span>
      </span>
    </div>
  );
});

/**
 * Follows the row's link when another cell is clicked. The cells lie above the link to show their full text on hover.
 */
function followRow({ target, currentTarget, ctrlKey, metaKey, shiftKey }: MouseEvent<HTMLElement>) {
  if (target instanceof Element && target.closest('a')) return;
  if (!getSelection()?.isCollapsed) return;
  const click = new window.MouseEvent('click', {
    bubbles: true,
    cancelable: true,
    ctrlKey,
    metaKey,
    shiftKey,
  });
  currentTarget.querySelector('a')?.dispatchEvent(click);
}
