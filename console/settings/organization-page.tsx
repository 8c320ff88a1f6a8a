import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { fieldError, otherError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { hasRole, invalidateMe, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/role-note.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Panel, Row, Stack } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Fact, Facts } from '../ui/table.tsx';
import { TextField } from '../ui/text-field.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { DeleteBySlugDialog } from './delete-by-slug-dialog.tsx';
import { dropSaved } from './drop-saved.ts';
import { RateLimitsPanel } from './rate-limits-panel.tsx';

const PATH = '/api/v1/organizations/{org_id}';

/** The organization: names, rate limits, deletion. */
export function OrganizationPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/' });
  const mine = useOrganization(org);
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const query = $api.useQuery('get', PATH, { params: { path: { org_id: mine.id } } });
  return (
    <QueryView query={query}>
      {(organization) => (
        <Stack>
          <Panel>
            <Facts>
              <Fact name="Slug">
                <code>{organization.slug}</code>
              </Fact>
              <Fact name="Id">
                <code>{organization.id}</code> <CopyButton text={organization.id} label="Copy the id" />
              </Fact>
              <Fact name="Created">
                <Time at={organization.createdAt} />
              </Fact>
            </Facts>
          </Panel>
          <RoleNote organization={mine} needed="admin" to="change the organization" />
          <NamesForm key={organization.id} organization={organization} isDisabled={!hasRole(mine, 'admin')} />
          <RateLimitsPanel organizationId={mine.id} />
          <Panel title="Delete the organization">
            <p>
              Its projects, flows and API keys are deleted too, runs under way are cancelled, and callers get
              401.
            </p>
            <RoleNote organization={mine} needed="owner" to="delete the organization" />
            <Row>
              <Button variant="danger" isDisabled={!hasRole(mine, 'owner')} onPress={() => setDeleting(true)}>
                Delete organization …
              </Button>
            </Row>
          </Panel>
          {isDeleting && (
            <DeleteBySlugDialog
              kind="organization"
              slug={organization.slug}
              isOpen
              onClose={() => setDeleting(false)}
              onConfirm={() => api.DELETE(PATH, { params: { path: { org_id: mine.id } } })}
              onDeleted={async () => {
                // Stays on a page without an organization until the deletion has been loaded.
                await navigate({ to: '/account' });
                await invalidateMe();
                await navigate({ to: '/', replace: true });
              }}
            />
          )}
        </Stack>
      )}
    </QueryView>
  );
}

type FormProps = { organization: Schemas['Organization']; isDisabled: boolean };

type Names = Partial<Pick<Schemas['Organization'], 'name' | 'description'>>;

/** A field shows unsaved text, otherwise the organization's current value. */
function NamesForm({ organization, isDisabled }: FormProps) {
  const [typed, setTyped] = useState<Names>({});
  const save = $api.useMutation('put', PATH, {
    meta: { quiet: true },
    async onSuccess(_, { body: sent }) {
      await Promise.all([refetch(PATH), invalidateMe()]);
      setTyped((now) => dropSaved(now, sent));
      showToast({ tone: 'good', title: 'Saved.' });
    },
  });
  const error = otherError(save.error, ['name', 'description']);
  // While a save is in flight the organization may still have the old names, and typing those again is a change.
  const changes = save.isPending ? typed : dropSaved(typed, organization);
  if (changes !== typed) setTyped(changes);
  const { name, description } = { ...organization, ...changes };
  const isChanged = Object.keys(changes).length > 0;
  return (
    <Panel title="Names">
      <TextField
        label="Name"
        value={name}
        onChange={(name) => setTyped({ ...changes, name })}
        isDisabled={isDisabled}
        error={fieldError(save.error, 'name')}
      />
      <TextField
        label="Description"
        rows={3}
        value={description}
        onChange={(description) => setTyped({ ...changes, description })}
        isDisabled={isDisabled}
        error={fieldError(save.error, 'description')}
      />
      {error && <ErrorNote error={error} />}
      <Row>
        <Button
          variant="primary"
          isDisabled={isDisabled || !isChanged}
          isPending={save.isPending}
          onPress={() => save.mutate({ params: { path: { org_id: organization.id } }, body: changes })}
        >
          Save
        </Button>
      </Row>
    </Panel>
  );
}
