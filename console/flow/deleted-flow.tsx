import { LinkButton } from '../ui/link-button.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import type { Step } from './draft/steps.ts';
import { useFlow } from './flow-context.ts';
import { FlowFilePanel } from './versions/flow-file-panel.tsx';

/**
 * Replaces the pages of a flow that was deleted, or became unreachable, while one was open. `steps` is the draft as it
 * was here.
 */
export function DeletedFlow({ steps }: { steps: Step[] }) {
  const { flow, org, project } = useFlow();
  return (
    <Page
      title={flow.name}
      text="This flow was deleted while you had it open, or you can no longer reach it."
      actions={
        <LinkButton variant="primary" to="/orgs/$org/projects/$project" params={{ org, project }}>
          All flows
        </LinkButton>
      }
    >
      <div role="alert">
        <Note tone="warn">
          What you change here is no longer saved, and nothing brings a deleted flow back. Its draft as it was
          here is below, with your last changes: download it to keep it. <code>weir flow push</code> makes a
          new flow of it.
        </Note>
      </div>
      <FlowFilePanel name={`${flow.slug}.yaml`} steps={steps} />
    </Page>
  );
}
