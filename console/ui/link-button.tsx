import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';
import style from './button.module.css';
import { classes } from './classes.ts';

type LinkButtonProps = AnchorHTMLAttributes<HTMLAnchorElement> & {
  variant?: 'primary' | 'secondary' | 'quiet';
  ref?: Ref<HTMLAnchorElement>;
};

function Anchor({ variant = 'secondary', ...props }: LinkButtonProps) {
  return <a {...props} className={classes(style.button, style[variant])} />;
}

/** A link inside the console (`to`, `params`) that looks like a button. */
export const LinkButton = createLink(Anchor);
