import type { ReactNode } from 'react';
import { Tooltip as AriaTooltip } from 'react-aria-components';
import overlay from './overlay.module.css';

/** The tooltip of a `TooltipTrigger`. */
export function Tooltip({ children }: { children: ReactNode }) {
  return (
    <AriaTooltip offset={6} className={overlay.tooltip}>
      {children}
    </AriaTooltip>
  );
}
