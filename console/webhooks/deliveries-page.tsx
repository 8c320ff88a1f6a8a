import { Page } from '../ui/page.tsx';

export function DeliveriesPage() {
  return <Page title="Webhooks">Not built yet.</Page>;
}
