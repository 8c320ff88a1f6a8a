import { ArrowRight, Braces, type LucideIcon, Repeat, Sparkles, Split } from 'lucide-react';
import { classes } from '../../ui/classes.ts';
import style from './graph.module.css';

/** The icon of each kind of step: its processor type, `parallel` or `loop`. */
export const KIND_ICONS = {
  llm: Sparkles,
  code: Braces,
  passthrough: ArrowRight,
  parallel: Split,
  loop: Repeat,
} as const satisfies Record<string, LucideIcon>;

export function StepIcon({ kind, size = 15 }: { kind: string; size?: number }) {
  const Icon = KIND_ICONS[kind as keyof typeof KIND_ICONS] ?? KIND_ICONS.passthrough;
  return (
    <span className={classes(style.icon, style[`kind-${kind}`])} aria-hidden>
      <Icon size={size} />
    </span>
  );
}
