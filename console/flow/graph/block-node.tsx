import { memo } from 'react';
import { classes } from '../../ui/classes.ts';
import type { SequentialStep } from '../draft/steps.ts';
import style from './graph.module.css';
import { StepIcon } from './step-icon.tsx';
import { StepItem } from './step-item.tsx';
import { StepMarks } from './step-marks.tsx';
import { StepMenu } from './step-menu.tsx';
import type { StepNodeData } from './step-node-data.ts';

/** A block in the graph. */
export const BlockNode = memo(function BlockNode({ data }: { data: StepNodeData }) {
  const step = data.step as SequentialStep;
  return (
    <StepItem data={data} className={classes(style.block, style.handle)}>
      <StepIcon kind={step.processor_type} />
      <span className={style.text}>
        <span className={style.name}>{step.name}</span>
        <span className={style.detail}>{step.model ?? step.step_id}</span>
      </span>
      <StepMarks status={data.status} problems={data.problems} />
      {data.isSelected && <StepMenu step={step} />}
    </StepItem>
  );
});
