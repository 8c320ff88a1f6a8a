import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  Ellipsis,
  LoaderCircle,
  Pin,
  TriangleAlert,
} from 'lucide-react';
import { memo, type ReactNode, useContext } from 'react';
import badge from '../../ui/badge.module.css';
import { IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { formatCompact, formatCount, formatDuration } from '../../ui/format.ts';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { Problem } from '../draft/problems.ts';
import type { LoopStep, ParallelStep, SequentialStep, Step } from '../draft/steps.ts';
import style from './graph.module.css';
import { GraphEditingContext, PinnedStepsContext, type StepAction, type StepStatus } from './graph-props.ts';
import { StepIcon } from './step-icon.tsx';

export type StepNodeData = {
  step: Step;
  depth: number;
  status: StepStatus | undefined;
  problems: Problem[];
  isSelected: boolean;
  /** Only one step is a tab stop; arrow keys lead to the others. */
  hasTabStop: boolean;
};

const ICONS = {
  pending: CircleDashed,
  running: LoaderCircle,
  completed: CircleCheck,
  failed: CircleAlert,
  paused: CirclePause,
  cancelled: Ban,
};

const KINDS = { llm: 'model call', code: 'code block', passthrough: 'passthrough block' };

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

export const BlockNode = memo(function BlockNode({ data }: { data: StepNodeData }) {
  const step = data.step as SequentialStep;
  const isPinned = useContext(PinnedStepsContext).has(step.step_id);
  return (
    <StepItem data={data} className={classes(style.block, style.handle)}>
      <StepIcon kind={step.processor_type} />
      <span className={style.text}>
        <span className={style.name}>{step.name}</span>
        <span className={style.detail}>{step.model ?? step.step_id}</span>
      </span>
      {isPinned && (
        <span className={style.pin} title="Its output is pinned">
          <Pin size={14} aria-hidden />
        </span>
      )}
      <StepMarks status={data.status} problems={data.problems} />
      {data.isSelected && <StepMenu step={step} />}
    </StepItem>
  );
});

/** A step as a focusable tree item with an accessible description. */
function StepItem({
  data,
  className,
  children,
}: {
  data: StepNodeData;
  className: string | undefined;
  children: ReactNode;
}) {
  const { step, depth, status, isSelected, hasTabStop } = data;
  const isPinned = useContext(PinnedStepsContext).has(step.step_id);
  return (
    <div
      role="treeitem"
      tabIndex={hasTabStop ? 0 : -1}
      aria-level={depth + 1}
      aria-selected={isSelected}
      aria-label={describeStep(data) + (isPinned ? ', output pinned' : '')}
      aria-expanded={step.type === 'sequential' ? undefined : true}
      data-step={step.step_id}
      className={classes(style.step, className, status && style[status.status], isSelected && style.selected)}
    >
      {children}
    </div>
  );
}

/** Describes a step and its status for assistive technology. */
function describeStep({
  step,
  status,
  problems,
}: Pick<StepNodeData, 'step' | 'status' | 'problems'>): string {
  const parts = [step.name, describeKind(step)];
  if (step.type === 'sequential' && step.model !== undefined) parts.push(step.model);
  if (status) parts.push(status.status);
  if (status?.count !== undefined && status.count > 1) parts.push(`${formatCount(status.count)} times`);
  if (status?.ms !== undefined) parts.push(formatDuration(status.ms));
  if (problems.length > 0) parts.push(`${problems.length} to fix: ${problems[0]?.message}`);
  return parts.join(', ');
}

function describeKind(step: Step): string {
  if (step.type === 'sequential') return KINDS[step.processor_type];
  if (step.type === 'loop') return `loop ${describeLoop(step)}`;
  return `parallel step with ${countBranches(step)}`;
}

/** 1 branch, 2 branches */
function countBranches({ branches }: ParallelStep): string {
  const { length } = Object.keys(branches);
  return length === 1 ? '1 branch' : `${length} branches`;
}

/** Describes when a loop ends: "for each item, at most 50", "until /good is true, at most 5". */
function describeLoop({ until, max_iterations }: LoopStep): string {
  const most = `at most ${formatCount(max_iterations)}`;
  if (!until) return `for each item, ${most}`;
  const equals = JSON.stringify(until.equals) ?? '';
  const value = equals.length > 24 ? `${equals.slice(0, 24)}…` : equals;
  return `until ${until.pointer || 'the output'} is ${value}, ${most}`;
}

function StepMarks({ status, problems }: Pick<StepNodeData, 'status' | 'problems'>) {
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
            {status.ms !== undefined && status.status !== 'running' && formatDuration(status.ms)}
          </small>
        </span>
      )}
    </span>
  );
}

function StepMenu({ step }: { step: Step }) {
  const editing = useContext(GraphEditingContext);
  if (!editing) return null;
  const item = (action: StepAction, text: string, tone?: 'danger') => (
    <MenuItem onAction={() => editing.act(action, step.step_id)} {...(tone && { tone })}>
      {text}
    </MenuItem>
  );
  return (
    // The graph uses presses for dragging and keys for moving between steps.
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps events of its button from the graph
    <span
      className={classes(style.menu, 'nodrag', 'nopan')}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Menu
        label={`Actions for ${step.name}`}
        trigger={
          <IconButton label="Actions" size="small">
            <Ellipsis size={15} />
          </IconButton>
        }
      >
        {item('duplicate', 'Duplicate')}
        {item('copy', 'Copy as JSON')}
        {item('up', 'Move up')}
        {item('down', 'Move down')}
        {step.type === 'parallel' && item('branch', 'Add a branch')}
        {item('loop', 'Put into a loop')}
        {item('parallel', 'Put into a parallel step')}
        {step.type !== 'sequential' && item('unwrap', 'Keep only the steps inside')}
        {item('remove', 'Delete', 'danger')}
      </Menu>
    </span>
  );
}
