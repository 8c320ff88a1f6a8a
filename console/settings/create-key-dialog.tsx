import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { Checkbox } from '../ui/checkbox.tsx';
import field from '../ui/field.module.css';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useReturnFocus } from '../ui/use-return-focus.ts';
import { EXPIRY_OPTIONS, type Expiry, expiryOf } from './key-expiry.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { SCOPE_OPTIONS, type Scope } from './scope-options.ts';

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
