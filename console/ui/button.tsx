import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import style from './button.module.css';
import { classes } from './classes.ts';
import { useButtonProps } from './use-button-props.ts';

type ButtonProps = Omit<AriaButtonProps, 'className' | 'style'> & {
  /** `primary`: the main action of a page or dialog; `danger`: cannot be undone; `quiet`: no border. */
  variant?: 'primary' | 'secondary' | 'danger' | 'quiet';
  size?: 'normal' | 'small';
};

/** A button. While `isPending` it keeps its size and does nothing. */
export function Button({ variant = 'secondary', size = 'normal', ...props }: ButtonProps) {
  const name = classes(style.button, style[variant], size === 'small' && style.small);
  return <AriaButton {...useButtonProps(props)} className={name} />;
}
