import type { ReactNode } from 'react';
import { classes } from '../../ui/classes.ts';
import { describeStep } from './describe-step.ts';
import style from './graph.module.css';
import type { StepNodeData } from './step-node-data.ts';

/** A step as a focusable tree item with an accessible description. */
export function StepItem({
  data,
  className,
  children,
}: {
  data: StepNodeData;
  className: string | undefined;
  children: ReactNode;
}) {
  const { step, depth, status, isSelected, hasTabStop } = data;
  return (
    <div
      role="treeitem"
      tabIndex={hasTabStop ? 0 : -1}
      aria-level={depth + 1}
      aria-selected={isSelected}
      aria-label={describeStep(data)}
      aria-expanded={step.type === 'sequential' ? undefined : true}
      data-step={step.step_id}
      className={classes(style.step, className, status && style[status.status], isSelected && style.selected)}
    >
      {children}
    </div>
  );
}
