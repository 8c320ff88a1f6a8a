import { Page } from '../ui/page.tsx';

export function EditorPage() {
  return <Page title="Editor">Not built yet.</Page>;
}
