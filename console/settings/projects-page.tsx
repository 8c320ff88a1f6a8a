import { Link, useParams } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/pages.ts';
import { refetch } from '../api/query-client.ts';
import { hasRole, invalidateMe, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/role-note.tsx';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Panel, Stack } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { DeleteBySlugDialog } from './delete-by-slug-dialog.tsx';
import { ProjectDialog } from './project-dialog.tsx';

/** The projects of an organization. */
export function ProjectsPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/projects' });
  const organization = useOrganization(org);
  const canChange = hasRole(organization, 'admin');
  const [edited, setEdited] = useState<Schemas['Project'] | 'new'>();
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
