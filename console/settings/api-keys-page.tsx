import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { refetch } from '../api/query-client.ts';
import { hasRole, useProject } from '../shell/me.ts';
import { RoleNote } from '../shell/role-note.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Time } from '../ui/time.tsx';
import { ApiKeysTable } from './api-keys-table.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';

const KEYS = '/api/v1/projects/{project_id}/api-keys';

/** The API keys of a project. */
export function ApiKeysPage() {
  const slugs = useParams({ from: '/orgs/$org/projects/$project/keys' });
  const { organization, project } = useProject(slugs);
  const isAdmin = hasRole(organization, 'admin');
  const [isOpen, setOpen] = useState(false);
  const [toRevoke, setToRevoke] = useState<Schemas['ApiKey']>();
  const query = $api.useQuery(
    'get',
    KEYS,
    { params: { path: { project_id: project.id } } },
    { enabled: isAdmin },
  );
  const create = (
    <Button variant="primary" isDisabled={!isAdmin} onPress={() => setOpen(true)}>
      New API key
    </Button>
  );
  return (
    <Page
      title="API keys"
      text={`Programs call the flows of ${project.name} with a key. A key reaches nothing of another project.`}
      actions={create}
    >
      <RoleNote organization={organization} needed="admin" to="see, create or revoke API keys" />
      {isAdmin && (
        <QueryView query={query}>
          {({ apiKeys }) => (
            <Panel isFlush>
              {apiKeys.length === 0 ? (
                <EmptyState
                  title="No API key yet"
                  text="Create one for each program that calls this project’s flows, so that you can revoke it alone."
                >
                  {create}
                </EmptyState>
              ) : (
                <ApiKeysTable organizationId={organization.id} keys={apiKeys} onRevoke={setToRevoke} />
              )}
            </Panel>
          )}
        </QueryView>
      )}
      {isOpen && <CreateKeyDialog slugs={slugs} projectId={project.id} onClose={() => setOpen(false)} />}
      {toRevoke && (
        <ConfirmDialog
          title={`Revoke ${toRevoke.name}?`}
          action="Revoke key"
          isOpen
          onClose={() => setToRevoke(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/projects/{project_id}/api-keys/{key_id}', {
              params: { path: { project_id: project.id, key_id: toRevoke.keyId } },
            });
            await refetch(KEYS);
          }}
        >
          <p>
            Every program that uses <code>{toRevoke.keyId}</code> gets 401 at once. Runs that it has started
            continue. This cannot be undone.
          </p>
          <p>
            {toRevoke.lastUsedAt ? (
              <>
                Last used <Time at={toRevoke.lastUsedAt} />.
              </>
            ) : (
              'It has never been used.'
            )}
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
