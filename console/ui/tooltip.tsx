import type { ReactNode } from 'react';
import { Tooltip as AriaTooltip } from 'react-aria-components';
import style from './overlay.module.css';

/** The text that appears beside what a `TooltipTrigger` (of react-aria-components) wraps. */
export function Tooltip({ children }: { children: ReactNode }) {
  return (
    <AriaTooltip offset={6} className={style.tooltip}>
      {children}
    </AriaTooltip>
  );
}
