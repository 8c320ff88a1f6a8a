import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/query-options.ts';
import { hasRole, invalidateMe, type MyOrganization, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { EmptyState, MoreButton, QueryView } from '../ui/feedback.tsx';
import { toSlug } from '../ui/fields/read-text.ts';
import { TextField } from '../ui/fields/text-field.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { Clipped, Panel, Stack, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { DeleteBySlugDialog } from './delete-by-slug-dialog.tsx';
import { dropSaved } from './drop-saved.ts';

type Props = {
  organization: MyOrganization;
  /** Undefined for a new project. */
  project: Schemas['Project'] | undefined;
  onClose: () => void;
};

/** The projects of an organization. */
export function ProjectsPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/projects' });
  const organization = useOrganization(org);
  const canChange = hasRole(organization, 'admin');
  const [edited, setEdited] = useState<Schemas['Project'] | 'new'>();
  useOpenFromAddress('new', () => canChange && setEdited('new'));
  const [toDelete, setToDelete] = useState<Schemas['Project']>();
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/projects',
    { params: { query: { organization_id: organization.id, limit: 100 } } },
    PAGES,
  );
  const create = (
    <Button size="small" isDisabled={!canChange} onPress={() => setEdited('new')}>
      New project
    </Button>
  );
  return (
    <Stack>
      <RoleNote organization={organization} needed="admin" to="create, rename or delete projects" />
      <Panel title="Projects" isFlush actions={create}>
        <QueryView query={query}>
          {({ pages }) => {
            const projects = pages.flatMap((page) => page.projects);
            if (projects.length === 0)
              return (
                <EmptyState
                  title="No project yet"
                  text="Flows and API keys belong to a project; a project’s keys cannot reach those of another."
                >
                  {create}
                </EmptyState>
              );
            return (
              <Table label="Projects" head={['Project', 'Description', 'Created', '']}>
                {projects.map((project) => (
                  <tr key={project.id}>
                    <td>
                      <Link to="/orgs/$org/projects/$project" params={{ org, project: project.slug }}>
                        <Clipped text={project.name} />
                      </Link>
                      <code>
                        <Clipped text={project.slug} />
                      </code>
                    </td>
                    <td>
                      <Clipped text={project.description} />
                    </td>
                    <td>
                      <Time at={project.createdAt} />
                    </td>
                    <td align="right">
                      <Menu
                        label={`Actions of ${project.name}`}
                        trigger={
                          <IconButton
                            label={`Actions of ${project.name}`}
                            size="small"
                            isDisabled={!canChange}
                          >
                            <Ellipsis size={16} />
                          </IconButton>
                        }
                      >
                        <MenuItem onAction={() => setEdited(project)}>Rename …</MenuItem>
                        <MenuItem tone="danger" onAction={() => setToDelete(project)}>
                          Delete …
                        </MenuItem>
                      </Menu>
                    </td>
                  </tr>
                ))}
              </Table>
            );
          }}
        </QueryView>
        <MoreButton query={query} />
      </Panel>
      {edited && (
        <ProjectDialog
          organization={organization}
          project={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {toDelete && (
        <DeleteBySlugDialog
          kind="project"
          slug={toDelete.slug}
          isOpen
          onClose={() => setToDelete(undefined)}
          onConfirm={() =>
            api.DELETE('/api/v1/projects/{project_id}', { params: { path: { project_id: toDelete.id } } })
          }
          onDeleted={async () => {
            await Promise.all([refetch('/api/v1/projects'), invalidateMe()]);
          }}
        />
      )}
    </Stack>
  );
}

/** Creates a project and opens it, or renames one. */
function ProjectDialog({ organization, project, onClose }: Props) {
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
