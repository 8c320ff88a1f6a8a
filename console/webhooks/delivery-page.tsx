import { Page } from '../ui/page.tsx';

export function DeliveryPage() {
  return <Page title="Delivery">Not built yet.</Page>;
}
