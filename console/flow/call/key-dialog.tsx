import { useState } from 'react';
import { fieldError } from '../../api/api-error.ts';
import { $api, refetch } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { useFlow } from '../flow-context.ts';

const KEYS = '/api/v1/projects/{project_id}/api-keys';
const DAY_MS = 86_400_000;
const ENVIRONMENTS = [
  {
    id: 'test',
    label: 'Test',
    description: 'Runs the same flows at the same price; its runs are marked as test.',
  },
  { id: 'live', label: 'Live', description: 'For your product.' },
] as const;
const EXPIRIES = [
  { id: '1', label: 'Tomorrow' },
  { id: '30', label: 'In 30 days' },
  { id: '365', label: 'In a year' },
  { id: 'never', label: 'Never' },
] as const;

/** Creates an API key that may run the flows of the project. */
export function KeyDialog({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const { flow, projectId } = useFlow();
  const [name, setName] = useState(`calls ${flow.slug}`);
  const [environment, setEnvironment] = useState<'live' | 'test'>('test');
  const [expiry, setExpiry] = useState<(typeof EXPIRIES)[number]['id']>('30');
  const create = $api.useMutation('post', KEYS, {
    meta: { quiet: true },
    onSuccess: ({ key }) => {
      onMade(key);
      return refetch(KEYS);
    },
  });
  const expires_at = expiry === 'never' ? null : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
  return (
    <FormDialog
      title="New API key"
      action="Make key"
      isOpen
      awaitsAnswer
      onClose={onClose}
      change={create}
      fields={['name']}
      isReady={name.trim() !== ''}
      onSubmit={() =>
        create.mutate({
          params: { path: { project_id: projectId } },
          body: { name: name.trim(), environment, scopes: ['run'], expires_at },
        })
      }
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(create.error, 'name')}
        help="So that you know later which program it is for. The key may run flows, and nothing else."
      />
      <Select label="Environment" options={ENVIRONMENTS} value={environment} onChange={setEnvironment} />
      <Select label="Expires" options={EXPIRIES} value={expiry} onChange={setExpiry} />
    </FormDialog>
  );
}
