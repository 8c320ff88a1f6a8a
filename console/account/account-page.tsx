import { Page } from '../ui/page.tsx';

export function AccountPage() {
  return <Page title="Account">Not built yet.</Page>;
}
