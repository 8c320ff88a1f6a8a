import { memo } from 'react';
import { classes } from '../../ui/classes.ts';
import { countBranches, describeLoop } from './describe-step.ts';
import style from './graph.module.css';
import { StepIcon } from './step-icon.tsx';
import { StepItem } from './step-item.tsx';
import { StepMarks } from './step-marks.tsx';
import { StepMenu } from './step-menu.tsx';
import type { StepNodeData } from './step-node-data.ts';

/** A parallel or loop step in the graph: a frame around its inner steps. */
export const FrameNode = memo(function FrameNode({ data }: { data: StepNodeData }) {
  const { step } = data;
  if (step.type === 'sequential') return null;
  const detail = step.type === 'loop' ? describeLoop(step) : `${countBranches(step)} at the same time`;
  return (
    <StepItem data={data} className={classes(style.frame, style[step.type])}>
      <div className={classes(style.frameHead, style.handle)}>
        <StepIcon kind={step.type} />
        <span className={style.text}>
          <span className={style.name}>{step.name}</span>
          <span className={style.detail}>{detail}</span>
        </span>
        <StepMarks status={data.status} problems={data.problems} />
        {data.isSelected && <StepMenu step={step} />}
      </div>
    </StepItem>
  );
});
