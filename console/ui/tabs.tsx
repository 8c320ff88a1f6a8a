import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import style from './tabs.module.css';

/** Links to the parts of a thing; the current one is marked. The children are `<TabLink>`s. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={style.tabs}>
      {children}
    </nav>
  );
}

/** One tab, which is a route of its own. */
export function TabLink({ children, ...props }: LinkProps & { children: ReactNode }) {
  return (
    <Link {...props} className={style.tab}>
      {children}
    </Link>
  );
}
