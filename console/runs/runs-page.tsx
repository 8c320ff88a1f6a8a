import { Page } from '../ui/page.tsx';

export function RunsPage() {
  return <Page title="Runs">Not built yet.</Page>;
}
