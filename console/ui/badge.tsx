import type { ReactNode } from 'react';
import style from './badge.module.css';
import { classes } from './classes.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle' | 'accent';

/** A short label with a colour. */
export function Badge({ tone = 'idle', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={classes(style.badge, style[tone])}>{children}</span>;
}
