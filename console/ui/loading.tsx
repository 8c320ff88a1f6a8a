import { LoaderCircle } from 'lucide-react';
import badge from './badge.module.css';
import style from './note.module.css';

/** Shown while something is loading. */
export function Loading({ label = 'Loading …' }: { label?: string }) {
  return (
    <div role="status" className={style.loading}>
      <LoaderCircle size={16} className={badge.spin} aria-hidden /> {label}
    </div>
  );
}
