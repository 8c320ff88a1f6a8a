import type { ReactNode } from 'react';
import { Tooltip as AriaTooltip } from 'react-aria-components';
import overlay from './overlay.module.css';

/** The text that appears beside what a `TooltipTrigger` (of react-aria-components) wraps. */
export function Tooltip({ children }: { children: ReactNode }) {
  return (
    <AriaTooltip offset={6} className={overlay.tooltip}>
      {children}
    </AriaTooltip>
  );
}
