import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useState } from 'react';
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Tooltip as AriaTooltip,
  TooltipTrigger,
} from 'react-aria-components';
import style from './button.module.css';
import { classes } from './classes.ts';
import overlay from './overlay.module.css';

type LinkButtonProps = AnchorHTMLAttributes<HTMLAnchorElement> & {
  variant?: 'primary' | 'secondary' | 'quiet';
  ref?: Ref<HTMLAnchorElement>;
};

/** A link inside the console (`to`, `params`) that looks like a button. */
export const LinkButton = createLink(Anchor);

type IconButtonProps = Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'aria-label'> & {
  /** The accessible name and the tooltip. */
  label: string;
  children: ReactNode;
  variant?: 'secondary' | 'quiet' | 'danger';
  size?: 'normal' | 'small';
};

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

function Tooltip({ children }: { children: ReactNode }) {
  return (
    <AriaTooltip offset={6} className={overlay.tooltip}>
      {children}
    </AriaTooltip>
  );
}

/**
 * Returns the props of a button. A button that is pending, or becomes disabled while it is focused, does nothing but
 * stays enabled in the DOM, so that it keeps the focus. React Aria's own `isPending` announces the button by an id that
 * is gone once its dialog has closed.
 */
function useButtonProps({ isPending, isDisabled = false, ...props }: AriaButtonProps): AriaButtonProps {
  const [hasFocus, setFocus] = useState(false);
  const keepsFocus = isDisabled && hasFocus;
  const all: AriaButtonProps = {
    ...props,
    onFocus(event) {
      setFocus(true);
      props.onFocus?.(event);
    },
    onBlur(event) {
      // The focus returns with the user from another window.
      setFocus(event.target === document.activeElement);
      props.onBlur?.(event);
    },
  };
  if (!isPending && !keepsFocus) return { ...all, isDisabled };
  // The slot of a button closes its dialog.
  return {
    ...all,
    type: 'button',
    onPress: nothing,
    'aria-disabled': true,
    ...(keepsFocus && { slot: null }),
  };
}

function nothing() {}

function Anchor({ variant = 'secondary', ...props }: LinkButtonProps) {
  return <a {...props} className={classes(style.button, style[variant])} />;
}
