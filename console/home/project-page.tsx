import { Page } from '../ui/page.tsx';

export function ProjectPage() {
  return <Page title="Flows">Not built yet.</Page>;
}
