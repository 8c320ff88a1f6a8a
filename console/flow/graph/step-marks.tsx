import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  LoaderCircle,
  TriangleAlert,
} from 'lucide-react';
import badge from '../../ui/badge.module.css';
import { formatCompact, formatDuration } from '../../ui/format.ts';
import style from './graph.module.css';
import type { StepNodeData } from './step-node-data.ts';

const ICONS = {
  pending: CircleDashed,
  running: LoaderCircle,
  completed: CircleCheck,
  failed: CircleAlert,
  paused: CirclePause,
  cancelled: Ban,
};

/** Marks a step with its problems and its status in a run. */
export function StepMarks({ status, problems }: Pick<StepNodeData, 'status' | 'problems'>) {
  const Icon = status && ICONS[status.status];
  return (
    <span className={style.marks} aria-hidden>
      {problems.length > 0 && (
        <span className={style.problem} title={problems.map(({ message }) => message).join('\n')}>
          <TriangleAlert size={14} />
        </span>
      )}
      {status && Icon && (
        <span className={style.status}>
          <span className={style[`is-${status.status}`]}>
            <Icon size={15} className={status.status === 'running' ? badge.spin : undefined} />
          </span>
          <small>
            {status.count !== undefined && status.count > 1 && <>×{formatCompact(status.count)} </>}
            {status.ms !== undefined && formatDuration(status.ms)}
          </small>
        </span>
      )}
    </span>
  );
}
