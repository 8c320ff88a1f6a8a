import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { invalidateMe, type MyOrganization } from '../shell/me.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { TextField } from '../ui/text-field.tsx';
import { toSlug } from '../ui/to-slug.ts';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { dropSaved } from './drop-saved.ts';

type Props = {
  organization: MyOrganization;
  /** Undefined for a new project. */
  project: Schemas['Project'] | undefined;
  onClose: () => void;
};

/** Creates a project and opens it, or renames one. */
export function ProjectDialog({ organization, project, onClose }: Props) {
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [name, setName] = useState(project?.name ?? '');
  const [description, setDescription] = useState(project?.description ?? '');
  const [typedSlug, setSlug] = useState<string>();
  const slug = typedSlug ?? toSlug(name);
  const save = useMutation({
    meta: { quiet: true },
    async mutationFn() {
      const names = { name: name.trim(), description };
      if (project) {
        // Somebody else may have changed the other fields meanwhile.
        const changes: Partial<typeof names> = dropSaved(names, project);
        if (Object.keys(changes).length > 0)
          await api.PUT('/api/v1/projects/{project_id}', {
            params: { path: { project_id: project.id } },
            body: changes,
          });
        return undefined;
      }
      const body = { ...names, slug, organization_id: organization.id };
      return (await api.POST('/api/v1/projects', { body })).data;
    },
    async onSuccess(created) {
      await Promise.all([refetch('/api/v1/projects'), invalidateMe()]);
      if (!isMounted.current) return;
      onClose();
      if (created)
        await navigate({
          to: '/orgs/$org/projects/$project',
          params: { org: organization.slug, project: created.slug },
        });
    },
  });
  return (
    <FormDialog
      title={project ? `Rename ${project.name}` : 'New project'}
      action={project ? 'Save' : 'Create project'}
      isOpen
      onClose={onClose}
      change={save}
      fields={['name', 'slug', 'description']}
      isReady={name.trim() !== ''}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(save.error, 'name')}
      />
      {!project && (
        <TextField
          label="Slug"
          isMono
          help={`Part of the addresses of its flows: /api/v1/seq/${organization.slug}/${slug || '…'}/…; it cannot be changed later.`}
          value={slug}
          onChange={setSlug}
          error={fieldError(save.error, 'slug')}
        />
      )}
      <TextField
        label="Description"
        rows={2}
        value={description}
        onChange={setDescription}
        error={fieldError(save.error, 'description')}
      />
    </FormDialog>
  );
}
