import { Page } from '../ui/page.tsx';

export function ModelKeysPage() {
  return <Page title="Model keys">Not built yet.</Page>;
}
