import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useFlow } from './flow-context.ts';

/** Changes the name and the description of the flow. */
export function EditFlowDialog({ onClose }: { onClose: () => void }) {
  const { flow, projectId } = useFlow();
  const [name, setName] = useState(flow.name);
  const [description, setDescription] = useState(flow.description);
  const change = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      api.PUT('/api/v1/projects/{project_id}/flows/{flow_id}', {
        params: { path: { project_id: projectId, flow_id: flow.id } },
        body: { name: name.trim(), description },
      }),
    async onSuccess() {
      await refetch('/api/v1/projects/{project_id}/flows/{flow_id}', '/api/v1/projects/{project_id}/flows');
      onClose();
    },
  });
  return (
    <FormDialog
      title="Name and description"
      action="Save"
      isOpen
      onClose={onClose}
      change={change}
      fields={['name', 'description']}
      isReady={name.trim() !== ''}
      onSubmit={() => change.mutate()}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(change.error, 'name')}
      />
      <TextField
        label="Description"
        rows={4}
        value={description}
        onChange={setDescription}
        help="What the flow is for."
        error={fieldError(change.error, 'description')}
      />
      <TextField
        label="Slug"
        isMono
        isReadOnly
        value={flow.slug}
        help="It is part of the flow’s URL, and stays."
      />
    </FormDialog>
  );
}
