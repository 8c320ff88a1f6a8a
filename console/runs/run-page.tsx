import { Page } from '../ui/page.tsx';

export function RunPage() {
  return <Page title="Run">Not built yet.</Page>;
}
