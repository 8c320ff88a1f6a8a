import { ArrowRight, Braces, Repeat, Sparkles, Split } from 'lucide-react';
import type { ComponentType } from 'react';
import { classes } from '../../ui/classes.ts';
import type { Step } from '../draft/steps.ts';
import style from './graph.module.css';

const ICONS: Record<string, ComponentType<{ size: number }>> = {
  llm: Sparkles,
  code: Braces,
  passthrough: ArrowRight,
  parallel: Split,
  loop: Repeat,
};

/** The kind of a step: its processor type, `parallel` or `loop`. */
export function kindOf(step: Step): string {
  return step.type === 'sequential' ? step.processor_type : step.type;
}

/** The icon of a kind of step. */
export function StepIcon({ kind, size = 15 }: { kind: string; size?: number }) {
  const Icon = ICONS[kind] ?? ArrowRight;
  return (
    <span className={classes(style.icon, style[`kind-${kind}`])} aria-hidden>
      <Icon size={size} />
    </span>
  );
}
