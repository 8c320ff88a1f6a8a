import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { TextField } from '../ui/text-field.tsx';
import { showToast } from '../ui/toast.tsx';
import { useIsMounted } from '../ui/use-is-shown.ts';

type Props = { organizationId: string; provider: string; onClose: () => void };

/** Stores or replaces an organization's own key of a model provider. */
export function ModelKeyDialog({ organizationId, provider, onClose }: Props) {
  const isMounted = useIsMounted();
  const [key, setKey] = useState('');
  const save = $api.useMutation('put', '/api/v1/organizations/{org_id}/model-keys/{provider}', {
    meta: { quiet: true },
    async onSuccess() {
      await refetch('/api/v1/organizations/{org_id}/model-keys', '/api/v1/models');
      if (isMounted.current) onClose();
      showToast({ tone: 'good', title: `Calls to ${provider} use your key from now on.` });
    },
  });
  return (
    <FormDialog
      title={`Key of ${provider}`}
      action="Save key"
      isOpen
      onClose={onClose}
      change={save}
      fields={['key']}
      isReady={key.trim() !== ''}
      onSubmit={() =>
        save.mutate({ params: { path: { org_id: organizationId, provider } }, body: { key: key.trim() } })
      }
    >
      <TextField
        label="Key"
        type="password"
        autoComplete="off"
        isMono
        autoFocus
        help={`Stored encrypted, never shown again, sent to ${provider} only. Calls with it cost no credits. Weir cannot test it: run a flow that uses this provider to see whether it is accepted.`}
        value={key}
        onChange={setKey}
        error={fieldError(save.error, 'key')}
      />
    </FormDialog>
  );
}
