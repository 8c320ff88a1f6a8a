import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { useModels } from '../api/use-models.ts';
import { hasRole, useOrganization, useUserName } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog, FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { Note, QueryView } from '../ui/feedback.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Clipped, Panel, Stack, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { groupModels } from './group-models.ts';

type Props = { organizationId: string; provider: string; onClose: () => void };

const KEYS = '/api/v1/organizations/{org_id}/model-keys';
/** Members may not list the keys. */
const NO_KEYS = { data: { modelKeys: [] as Schemas['ModelKey'][] }, error: null, refetch: () => undefined };

/** The model providers, who pays for their calls, and the organization's own keys. */
export function ModelKeysPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/model-keys' });
  const organization = useOrganization(org);
  const isAdmin = hasRole(organization, 'admin');
  const [edited, setEdited] = useState<string>();
  const [toDelete, setToDelete] = useState<string>();
  const keys = $api.useQuery(
    'get',
    KEYS,
    { params: { path: { org_id: organization.id } } },
    { enabled: isAdmin },
  );
  const models = useModels(organization.id);
  const nameOfUser = useUserName(organization.id);
  return (
    <Stack>
      <RoleNote organization={organization} needed="admin" to="see or change model keys" />
      <Panel title="Providers" isFlush>
        <QueryView query={models}>
          {(listed) => (
            <QueryView query={isAdmin ? keys : NO_KEYS}>
              {({ modelKeys }) => (
                <Table label="Providers" head={['Provider', 'Paid with', 'Models', 'Own key', 'Changed', '']}>
                  {groupModels(listed, modelKeys).map(({ provider, models, paidWith, key }) => (
                    <tr key={provider}>
                      <td>{provider}</td>
                      <td>
                        {paidWith === 'service' && <Badge tone="good">Credits</Badge>}
                        {paidWith === 'organization' && <Badge tone="accent">Own key</Badge>}
                        {paidWith === null && <Badge tone="warn">No key</Badge>}
                      </td>
                      <td title={models.join('\n')}>{models.length === 0 ? '—' : models.length}</td>
                      <td>{key ? <code>{key.keyPreview}</code> : '—'}</td>
                      <td>
                        {key ? (
                          <>
                            <Time at={key.updatedAt} />
                            <Clipped text={`by ${nameOfUser(key.createdBy)}`} />
                          </>
                        ) : (
                          '—'
                        )}
                      </td>
                      <td align="right">
                        <Button
                          size="small"
                          isDisabled={!isAdmin}
                          aria-label={`${key ? 'Replace' : 'Set'} the key of ${provider}`}
                          onPress={() => setEdited(provider)}
                        >
                          {key ? 'Replace' : 'Set key'}
                        </Button>
                        {key && ' '}
                        {key && (
                          <Button
                            size="small"
                            variant="danger"
                            isDisabled={!isAdmin}
                            aria-label={`Delete the key of ${provider}`}
                            onPress={() => setToDelete(provider)}
                          >
                            Delete
                          </Button>
                        )}
                      </td>
                    </tr>
                  ))}
                </Table>
              )}
            </QueryView>
          )}
        </QueryView>
      </Panel>
      {edited && (
        <ModelKeyDialog
          organizationId={organization.id}
          provider={edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {toDelete && (
        <ConfirmDialog
          title={`Delete the key of ${toDelete}?`}
          action="Delete key"
          isOpen
          onClose={() => setToDelete(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/organizations/{org_id}/model-keys/{provider}', {
              params: { path: { org_id: organization.id, provider: toDelete } },
            });
            await refetch(KEYS, '/api/v1/models');
          }}
        >
          Its models are then paid with credits if the service has a key for {toDelete}; otherwise blocks that
          call them fail.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

/** Stores or replaces an organization's own key of a model provider. */
function ModelKeyDialog({ organizationId, provider, onClose }: Props) {
  const isMounted = useIsMounted();
  const [key, setKey] = useState('');
  const save = $api.useMutation('put', '/api/v1/organizations/{org_id}/model-keys/{provider}', {
    meta: { quiet: true },
    async onSuccess({ check }) {
      await refetch('/api/v1/organizations/{org_id}/model-keys', '/api/v1/models');
      // The dialog says why the key was not accepted.
      if (check?.result !== 'accepted') return;
      if (isMounted.current) onClose();
      showToast({ tone: 'good', title: `${provider} accepts the key. Calls use it from now on.` });
    },
  });
  return (
    <FormDialog
      title={`Key of ${provider}`}
      action="Save key"
      cancelLabel={save.data ? 'Done' : 'Cancel'}
      isOpen
      onClose={onClose}
      change={save}
      fields={['key']}
      isReady={key.trim() !== ''}
      onSubmit={() =>
        save.mutate({
          params: { path: { org_id: organizationId, provider }, query: { check: true } },
          body: { key: key.trim() },
        })
      }
    >
      <TextField
        label="Key"
        type="password"
        autoComplete="off"
        isMono
        autoFocus
        help={`Stored encrypted, never shown again, sent to ${provider} only. Calls with it cost no credits. Saving sends one small request to test it.`}
        value={key}
        onChange={setKey}
        error={fieldError(save.error, 'key')}
      />
      {save.data?.check && (
        <div role="alert">
          <Note tone="warn">
            {save.data.check.result === 'rejected'
              ? `The key is saved, but ${provider} rejects it: calls with it fail.`
              : `The key is saved, but ${provider} could not be asked whether it accepts it.`}{' '}
            {save.data.check.message}
          </Note>
        </div>
      )}
    </FormDialog>
  );
}
