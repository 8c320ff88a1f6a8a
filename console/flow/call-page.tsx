import { Page } from '../ui/page.tsx';

export function CallPage() {
  return <Page title="Call">Not built yet.</Page>;
}
