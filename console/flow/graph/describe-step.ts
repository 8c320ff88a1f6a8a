import { formatCount, formatDuration } from '../../ui/format.ts';
import type { LoopStep, ParallelStep, Step } from '../draft/steps.ts';
import type { StepNodeData } from './step-node-data.ts';

const KINDS = { llm: 'model call', code: 'code block', passthrough: 'passthrough block' };

/** Describes a step and its status for assistive technology. */
export function describeStep({
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
export function countBranches({ branches }: ParallelStep): string {
  const { length } = Object.keys(branches);
  return length === 1 ? '1 branch' : `${length} branches`;
}

/** Describes when a loop ends: "for each item, at most 50", "until /good is true, at most 5". */
export function describeLoop({ until, max_iterations }: LoopStep): string {
  const most = `at most ${formatCount(max_iterations)}`;
  if (!until) return `for each item, ${most}`;
  const equals = JSON.stringify(until.equals) ?? '';
  const value = equals.length > 24 ? `${equals.slice(0, 24)}…` : equals;
  return `until ${until.pointer || 'the output'} is ${value}, ${most}`;
}
