import { Outlet } from '@tanstack/react-router';

/** The parts of settings. */
export function SettingsPage() {
  return <Outlet />;
}
