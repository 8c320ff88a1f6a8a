import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { fieldError } from '../api/api-error.ts';
import { $api, refetch, type Schemas } from '../api/client.ts';
import { curlCommand, quoteForShell } from '../api/curl-command.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog, DialogActions, FormDialog } from '../ui/dialog.tsx';
import { Note } from '../ui/feedback.tsx';
import { Checkbox } from '../ui/fields/checkbox.tsx';
import field from '../ui/fields/field.module.css';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { useReturnFocus } from '../ui/use-return-focus.ts';
import { EXPIRY_OPTIONS, type Expiry, expiryOf } from './key-expiry.ts';

type NewKeyDialogProps = {
  apiKey: Schemas['NewApiKey'];
  slugs: { org: string; project: string };
  onClose: () => void;
};

/** The scopes of API keys, as the documentation describes them. */
const SCOPE_OPTIONS = [
  { id: 'run', label: 'Run', text: 'start, resume, repeat and cancel runs, and read them' },
  {
    id: 'read',
    label: 'Read',
    text: 'read runs, flows, versions, tests, usage and deliveries of the project',
  },
  { id: 'deploy', label: 'Deploy', text: 'change, test and publish flows' },
  { id: 'webhooks', label: 'Webhooks', text: 'administer the organization’s webhooks, its secret included' },
] as const;

type Scope = (typeof SCOPE_OPTIONS)[number]['id'];

const ENVIRONMENTS = [
  { id: 'live', label: 'Live', description: 'For your product.' },
  {
    id: 'test',
    label: 'Test',
    description: 'Runs the same flows at the same price; its runs are marked as test.',
  },
] as const;

type Props = { slugs: { org: string; project: string }; projectId: string; onClose: () => void };

/** Creates an API key and shows it once. */
export function CreateKeyDialog({ slugs, projectId, onClose }: Props) {
  const [name, setName] = useState('');
  const [environment, setEnvironment] = useState<'live' | 'test'>('live');
  const [scopes, setScopes] = useState<string[]>(['run']);
  const [expiry, setExpiry] = useState<Expiry>('never');
  const [day, setDay] = useState('');
  useReturnFocus();
  const expiresAt = expiryOf(expiry, day);
  const create = $api.useMutation('post', '/api/v1/projects/{project_id}/api-keys', {
    meta: { quiet: true },
    onSuccess: () => refetch('/api/v1/projects/{project_id}/api-keys'),
  });
  if (create.data) return <NewKeyDialog apiKey={create.data} slugs={slugs} onClose={onClose} />;
  return (
    <FormDialog
      title="New API key"
      action="Create key"
      isOpen
      awaitsAnswer
      onClose={onClose}
      change={create}
      fields={['name', 'expires_at']}
      isReady={name.trim() !== '' && scopes.length > 0 && expiresAt !== undefined}
      onSubmit={() =>
        create.mutate({
          params: { path: { project_id: projectId } },
          body: {
            name: name.trim(),
            environment,
            scopes: scopes as Scope[],
            expires_at: expiresAt ?? null,
          },
        })
      }
    >
      <TextField
        label="Name"
        autoFocus
        placeholder="The program that uses it"
        value={name}
        onChange={setName}
        error={fieldError(create.error, 'name')}
      />
      <Select
        label="Environment"
        options={ENVIRONMENTS}
        value={environment}
        onChange={setEnvironment}
        help={ENVIRONMENTS.find(({ id }) => id === environment)?.description ?? ''}
      />
      <CheckboxGroup className={field.field ?? ''} value={scopes} onChange={setScopes}>
        <Label className={field.label ?? ''}>Scopes</Label>
        {SCOPE_OPTIONS.map(({ id, label, text }) => (
          <Checkbox key={id} value={id}>
            <span>
              {label} <span className={field.help}>{text}</span>
            </span>
          </Checkbox>
        ))}
      </CheckboxGroup>
      <Select label="Expires" options={EXPIRY_OPTIONS} value={expiry} onChange={setExpiry} />
      {expiry === 'date' && <TextField label="Last day" type="date" value={day} onChange={setDay} />}
      {fieldError(create.error, 'expires_at') && (
        <p className={field.error}>{fieldError(create.error, 'expires_at')}</p>
      )}
    </FormDialog>
  );
}

/** Shows a new key, the only time that it can be seen. */
function NewKeyDialog({ apiKey, slugs, onClose }: NewKeyDialogProps) {
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
