import { Check, Minus } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  Checkbox as AriaCheckbox,
  Switch as AriaSwitch,
  type CheckboxProps,
  type SwitchProps,
} from 'react-aria-components';
import style from './field.module.css';

/** A checkbox of a form; without children it needs an `aria-label`. */
export function Checkbox({
  children,
  ...props
}: Omit<CheckboxProps, 'className' | 'children'> & { children?: ReactNode }) {
  return (
    <AriaCheckbox {...props} className={style.check}>
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className={style.box} aria-hidden>
            {isIndeterminate ? <Minus size={12} /> : isSelected && <Check size={12} strokeWidth={3} />}
          </span>
          {children}
        </>
      )}
    </AriaCheckbox>
  );
}

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
