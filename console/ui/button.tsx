import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import style from './button.module.css';
import { classes } from './classes.ts';

export type ButtonProps = Omit<AriaButtonProps, 'className' | 'style'> & {
  /** `primary`: the one thing that a page or dialog is for; `danger`: what cannot be undone; `quiet`: no border. */
  variant?: 'primary' | 'secondary' | 'danger' | 'quiet';
  size?: 'normal' | 'small';
};

/**
 * A button. While `isPending` it keeps its place and does nothing. React Aria's own `isPending` is not used: it announces
 * the button by its id, which leads nowhere once the dialog around it has closed.
 */
export function Button({ variant = 'secondary', size = 'normal', isPending, ...props }: ButtonProps) {
  const name = classes(style.button, style[variant], size === 'small' && style.small);
  if (!isPending) return <AriaButton {...props} className={name} />;
  // Not disabled, which would take the focus away from it.
  return <AriaButton {...props} type="button" onPress={nothing} aria-disabled className={name} />;
}

function nothing() {}
