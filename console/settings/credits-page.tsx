import { Page } from '../ui/page.tsx';

export function CreditsPage() {
  return <Page title="Credits">Not built yet.</Page>;
}
