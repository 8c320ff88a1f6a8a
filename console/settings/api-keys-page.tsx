import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { hasRole, useProject, useUserName } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { EmptyState, QueryView } from '../ui/feedback.tsx';
import { Clipped, Page, Panel, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';

type ApiKey = Schemas['ApiKey'];

const STATES = {
  active: { tone: 'good', label: 'Active' },
  expired: { tone: 'warn', label: 'Expired' },
  revoked: { tone: 'idle', label: 'Revoked' },
} as const;

type Props = { organizationId: string; keys: ApiKey[]; onRevoke: (key: ApiKey) => void };

const KEYS = '/api/v1/projects/{project_id}/api-keys';

export function ApiKeysPage() {
  const slugs = useParams({ from: '/orgs/$org/projects/$project/keys' });
  const { organization, project } = useProject(slugs);
  const isAdmin = hasRole(organization, 'admin');
  const [isOpen, setOpen] = useState(false);
  useOpenFromAddress('new', () => isAdmin && setOpen(true));
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

/** The table of API keys: state, scopes, last use. */
function ApiKeysTable({ organizationId, keys, onRevoke }: Props) {
  const nameOfUser = useUserName(organizationId);
  return (
    <Table label="API keys" head={['Name', 'State', 'Environment', 'Scopes', 'Last used', 'Created', '']}>
      {keys.map((key) => (
        <tr key={key.keyId}>
          <td>
            <Clipped text={key.name} />
            <code>
              weir_{key.environment}_{key.keyId}…
            </code>
          </td>
          <td>
            <Badge tone={STATES[key.state].tone}>{STATES[key.state].label}</Badge>
            {key.state === 'active' && key.expiresAt && (
              <div>
                until <Time at={key.expiresAt} />
              </div>
            )}
          </td>
          <td>{key.environment}</td>
          <td>{key.scopes.join(', ')}</td>
          <td>{key.lastUsedAt ? <Time at={key.lastUsedAt} /> : 'Never'}</td>
          <td>
            <Time at={key.createdAt} />
            <Clipped text={`by ${key.createdBy === null ? 'the operator' : nameOfUser(key.createdBy)}`} />
          </td>
          <td align="right">
            {key.state !== 'revoked' && (
              <Button
                size="small"
                variant="danger"
                aria-label={`Revoke ${key.name}`}
                onPress={() => onRevoke(key)}
              >
                Revoke
              </Button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
