import { ChevronRight, Play } from 'lucide-react';
import type { CSSProperties } from 'react';
import { KIND_ICONS } from '../../flow/graph/step-icon.tsx';
import { statusName } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { formatCompact, formatDuration } from '../../ui/format.ts';
import type { Span, SpanRow } from './spans.ts';
import type { TimeScale } from './time-scale.ts';
import style from './waterfall.module.css';

const GROUP_ICONS = {
  run: Play,
  loop: KIND_ICONS.loop,
  iteration: KIND_ICONS.loop,
  parallel: KIND_ICONS.parallel,
  branch: KIND_ICONS.parallel,
  block: KIND_ICONS.passthrough,
};

type Props = {
  row: SpanRow;
  top: number;
  scale: TimeScale;
  /** Whether the arrow keys start from this line. */
  isActive: boolean;
  isSelected: boolean;
  onChoose: (span: Span) => void;
  onToggle: (span: Span) => void;
};

/** A line of the waterfall: a span's name and bar. */
export function SpanLine({ row, top, scale, isActive, isSelected, onChoose, onToggle }: Props) {
  const { span, depth, isOpen, name } = row;
  const type = span.execution?.processor_type;
  const Icon = type ? KIND_ICONS[type] : GROUP_ICONS[span.kind];
  const [from, to, ready] = [scale.at(span.start), scale.at(span.end), scale.at(span.ready)];
  const attempts = span.execution?.attempts ?? 1;
  const label = `${formatDuration(span.end - span.start)}${attempts > 1 ? `, ${attempts} attempts` : ''}`;
  const waited = span.start - span.ready;
  const tone =
    span.kind === 'block' && span.status === 'completed' ? style[type ?? 'group'] : style[span.status];
  return (
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={span.children.length > 0 ? isOpen : undefined}
      aria-selected={isSelected}
      aria-label={`${name}, ${statusName(span.status)}, ${label}`}
      tabIndex={isActive ? 0 : -1}
      className={classes(style.row, isSelected && style.selected)}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onChoose(span)}
      onKeyDown={(event) => event.key === 'Enter' && onChoose(span)}
    >
      <span className={style.name} style={{ '--depth': depth } as CSSProperties}>
        {span.children.length > 0 ? (
          <button
            type="button"
            tabIndex={-1}
            aria-hidden
            className={classes(style.fold, isOpen && style.open)}
            onClick={(event) => {
              event.stopPropagation();
              onToggle(span);
            }}
          >
            <ChevronRight size={13} />
          </button>
        ) : (
          <span className={style.fold} />
        )}
        <Icon size={13} className={classes(style.icon, type && style[`${type}Icon`])} aria-hidden />
        <span className={classes(style.text, span.status === 'failed' && style.bad)} title={name}>
          {name}
        </span>
        {span.kind === 'loop' && <span className={style.count}>×{formatCompact(span.children.length)}</span>}
      </span>
      <span className={style.lane}>
        {waited > 0 && span.kind === 'block' && (
          <span
            className={style.wait}
            style={{ left: `${ready * 100}%`, width: `${(from - ready) * 100}%` }}
            title={`Waited ${formatDuration(waited)} before ${attempts > 1 ? 'its last attempt' : 'it started'}`}
          />
        )}
        {scale.cuts.map((cut) => (
          <span
            key={cut.from}
            className={style.cut}
            style={{ left: `${cut.from * 100}%`, width: `${(cut.to - cut.from) * 100}%` }}
            title={`${formatDuration(cut.ms)} of waiting or failed attempts, drawn short`}
          />
        ))}
        <span
          className={classes(style.bar, span.kind !== 'block' && style.group, tone)}
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
          title={`${name}: ${label}, from +${formatDuration(span.start - scale.start)} to +${formatDuration(span.end - scale.start)}`}
        />
      </span>
      <span className={style.took}>{formatDuration(span.end - span.start)}</span>
    </div>
  );
}
