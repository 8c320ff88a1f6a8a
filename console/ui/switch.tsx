import type { ReactNode } from 'react';
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components';
import style from './field.module.css';

/** A switch, which takes effect at once. */
export function Switch({
  children,
  ...props
}: Omit<SwitchProps, 'className' | 'children'> & { children: ReactNode }) {
  return (
    <AriaSwitch {...props} className={style.switch}>
      <span className={style.track} aria-hidden />
      {children}
    </AriaSwitch>
  );
}
