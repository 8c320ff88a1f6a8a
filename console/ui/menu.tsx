import type { ReactNode } from 'react';
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  type MenuItemProps,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { classes } from './classes.ts';
import style from './overlay.module.css';

/** A menu of actions, opened by its trigger: `<Menu label="…" trigger={<Button/>}><MenuItem/></Menu>`. */
export function Menu({
  label,
  trigger,
  children,
}: {
  label: string;
  trigger: ReactNode;
  children: ReactNode;
}) {
  return (
    <MenuTrigger>
      {trigger}
      <Popover className={style.popover}>
        <AriaMenu aria-label={label}>{children}</AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

/** An action of a menu; a link with `href`. */
export function MenuItem({ tone, ...props }: Omit<MenuItemProps, 'className'> & { tone?: 'danger' }) {
  return <AriaMenuItem {...props} className={classes(style.item, tone === 'danger' && style.danger)} />;
}
