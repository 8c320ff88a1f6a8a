import { classes } from '../../ui/classes.ts';
import { KIND_ICONS } from '../../ui/kind-icons.ts';
import style from './graph.module.css';

/** The icon of a step's kind. */
export function StepIcon({ kind, size = 15 }: { kind: string; size?: number }) {
  const Icon = KIND_ICONS[kind as keyof typeof KIND_ICONS] ?? KIND_ICONS.passthrough;
  return (
    <span className={classes(style.icon, style[`kind-${kind}`])} aria-hidden>
      <Icon size={size} />
    </span>
  );
}
