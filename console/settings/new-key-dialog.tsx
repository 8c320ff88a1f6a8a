import { $api, type Schemas } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { curlCommand, quoteForShell } from '../ui/curl-command.ts';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Note } from '../ui/note.tsx';

type NewKeyDialogProps = {
  apiKey: Schemas['NewApiKey'];
  slugs: { org: string; project: string };
  onClose: () => void;
};

/** Shows a new key, the only time that it can be seen. */
export function NewKeyDialog({ apiKey, slugs, onClose }: NewKeyDialogProps) {
  const flows = $api.useQuery('get', '/api/v1/projects/{project_id}/flows', {
    params: { path: { project_id: apiKey.projectId }, query: { limit: 20 } },
  });
  const flow = flows.data?.flows.find(({ productionVersion }) => productionVersion !== null);
  return (
    <Dialog title={`Key “${apiKey.name}”`} isOpen onClose={onClose} width="38rem" isDismissable={false}>
      <Note tone="warn">Copy the key now: it is shown this once only.</Note>
      <CodeBlock label="the key" text={apiKey.key} isWrapped />
      {apiKey.scopes.includes('run') && flow && (
        <>
          <p>Call {flow.name} with it:</p>
          <CodeBlock label="the curl line" text={executeCommand(apiKey.key, slugs, flow.slug)} isWrapped />
        </>
      )}
      <DialogActions>
        <Button variant="primary" onPress={onClose}>
          I have copied it
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function executeCommand(apiKey: string, { org, project }: NewKeyDialogProps['slugs'], flow: string): string {
  const url = quoteForShell(`${location.origin}/api/v1/seq/${org}/${project}/${flow}/execute`);
  return curlCommand(url, { apiKey, body: { message: 'Hello' } });
}
