import { Page } from '../ui/page.tsx';

export function ApiKeysPage() {
  return <Page title="API keys">Not built yet.</Page>;
}
