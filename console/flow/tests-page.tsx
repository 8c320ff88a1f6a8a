import { Page } from '../ui/page.tsx';

export function TestsPage() {
  return <Page title="Test cases">Not built yet.</Page>;
}
