import { Page } from '../ui/page.tsx';

export function VersionsPage() {
  return <Page title="Versions">Not built yet.</Page>;
}
