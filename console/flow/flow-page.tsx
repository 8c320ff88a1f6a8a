import { Outlet } from '@tanstack/react-router';

/** The parts of flow. */
export function FlowPage() {
  return <Outlet />;
}
