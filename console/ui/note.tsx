// Notes, errors, empty lists and loading: what a page shows beside its data or in place of it.
import { Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import style from './note.module.css';

/** A note to the user. */
export function Note({ tone = 'idle', children }: { tone?: 'idle' | 'warn'; children: ReactNode }) {
  return (
    <div className={classes(style.note, tone === 'warn' && style.warn)}>
      {tone === 'warn' ? <TriangleAlert size={16} aria-hidden /> : <Info size={16} aria-hidden />}
      <div>{children}</div>
    </div>
  );
}
