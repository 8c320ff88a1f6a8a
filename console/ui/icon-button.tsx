import type { ReactNode } from 'react';
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  TooltipTrigger,
} from 'react-aria-components';
import style from './button.module.css';
import { classes } from './classes.ts';
import { Tooltip } from './tooltip.tsx';
import { useButtonProps } from './use-button-props.ts';

type IconButtonProps = Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'aria-label'> & {
  /** The accessible name and the tooltip. */
  label: string;
  children: ReactNode;
  variant?: 'secondary' | 'quiet' | 'danger';
  size?: 'normal' | 'small';
};

/** A button with only an icon. */
export function IconButton({
  label,
  children,
  variant = 'quiet',
  size = 'normal',
  ...props
}: IconButtonProps) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton
        {...useButtonProps(props)}
        aria-label={label}
        className={classes(style.button, style.icon, style[variant], size === 'small' && style.small)}
      >
        {children}
      </AriaButton>
      <Tooltip>{label}</Tooltip>
    </TooltipTrigger>
  );
}
