import { Page } from '../ui/page.tsx';

export function AuditLogPage() {
  return <Page title="Audit log">Not built yet.</Page>;
}
