import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { TextField } from '../ui/text-field.tsx';
import { toSlug } from '../ui/to-slug.ts';

type Props = {
  projectId: string;
  slugs: { org: string; project: string };
  isOpen: boolean;
  onClose: () => void;
};

/** Makes a flow with an empty draft, and opens it. */
export function NewFlowDialog({ projectId, slugs, isOpen, onClose }: Props) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [typedSlug, setSlug] = useState<string>();
  const [description, setDescription] = useState('');
  const slug = typedSlug ?? toSlug(name);
  const create = $api.useMutation('post', '/api/v1/projects/{project_id}/flows', {
    meta: { quiet: true },
    async onSuccess(flow) {
      await refetch('/api/v1/projects/{project_id}/flows');
      onClose();
      await navigate({
        to: '/orgs/$org/projects/$project/flows/$flow',
        params: { ...slugs, flow: flow.slug },
      });
    },
  });
  return (
    <FormDialog
      title="New flow"
      action="Create flow"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      fields={['name', 'slug', 'description']}
      isReady={name.trim() !== ''}
      onSubmit={() =>
        create.mutate({
          params: { path: { project_id: projectId } },
          body: { name: name.trim(), slug, description },
        })
      }
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(create.error, 'name')}
      />
      <TextField
        label="Slug"
        isMono
        help={`Callers use it: /api/v1/seq/${slugs.org}/${slugs.project}/${slug || '…'}/execute`}
        value={slug}
        onChange={setSlug}
        error={fieldError(create.error, 'slug')}
      />
      <TextField
        label="Description"
        rows={2}
        value={description}
        onChange={setDescription}
        error={fieldError(create.error, 'description')}
      />
    </FormDialog>
  );
}
