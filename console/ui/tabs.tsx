import { Link, type LinkProps, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import style from './tabs.module.css';

/** Links to the parts of a page; the current one is marked. The children are `<TabLink>`s. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  const tabs = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // On a narrow window the tabs scroll horizontally.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is another tab
  useEffect(() => {
    tabs.current
      ?.querySelector('[data-status=active]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  return (
    <nav ref={tabs} aria-label={label} className={style.tabs}>
      {children}
    </nav>
  );
}

/** A tab, which is a route. */
export function TabLink({ children, ...props }: LinkProps & { children: ReactNode }) {
  return (
    <Link {...props} className={style.tab}>
      {children}
    </Link>
  );
}
