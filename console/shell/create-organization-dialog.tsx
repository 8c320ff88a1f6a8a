import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { TextField } from '../ui/text-field.tsx';
import { toSlug } from '../ui/to-slug.ts';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { invalidateMe } from './me.ts';

/** Creates an organization with the user as owner, and opens its projects. */
export function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [name, setName] = useState('');
  const [typedSlug, setSlug] = useState<string>();
  const slug = typedSlug ?? toSlug(name);
  const create = $api.useMutation('post', '/api/v1/organizations', {
    meta: { quiet: true },
    async onSuccess(organization) {
      await invalidateMe();
      if (!isMounted.current) return;
      onClose();
      await navigate({ to: '/orgs/$org/settings/projects', params: { org: organization.slug } });
    },
  });
  return (
    <FormDialog
      title="New organization"
      action="Create organization"
      isOpen
      onClose={onClose}
      change={create}
      fields={['name', 'slug']}
      isReady={name.trim() !== ''}
      onSubmit={() => create.mutate({ body: { name: name.trim(), slug } })}
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
        help={`Part of the addresses of its flows: /api/v1/seq/${slug || '…'}/…; it cannot be changed later.`}
        value={slug}
        onChange={setSlug}
        error={fieldError(create.error, 'slug')}
      />
    </FormDialog>
  );
}
