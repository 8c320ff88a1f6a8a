import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown } from 'lucide-react';
import { Button } from 'react-aria-components';
import { signOut } from '../sign-in/session.ts';
import { classes } from '../ui/classes.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { useMe } from './me.ts';
import style from './navigation.module.css';
import { applyTheme, THEMES, useTheme } from './theme.ts';

/** The menu of the signed-in user: account, colours, sign out. */
export function AccountMenu() {
  const { name, email, userId } = useMe();
  const navigate = useNavigate();
  const theme = useTheme();
  return (
    <Menu
      label="Account"
      trigger={
        <Button className={classes(style.trigger, style.account)} aria-label="Account">
          <span className={style.names}>
            <span>{name ?? email ?? userId}</span>
            <span>{email ?? userId}</span>
          </span>
          <ChevronsUpDown size={14} aria-hidden />
        </Button>
      }
    >
      <MenuItem onAction={() => void navigate({ to: '/account' })}>Account</MenuItem>
      {THEMES.map(({ id, label }) => (
        <MenuItem key={id} onAction={() => applyTheme(id)}>
          {theme === id ? `${label} ✓` : label}
        </MenuItem>
      ))}
      <MenuItem onAction={() => void signOut()}>Sign out</MenuItem>
    </Menu>
  );
}
