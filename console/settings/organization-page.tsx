import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldError, otherError } from '../api/api-error.ts';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { hasRole, invalidateMe, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/code-block.tsx';
import { ErrorNote, QueryView } from '../ui/feedback.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { formatCount } from '../ui/format.ts';
import { Fact, Facts, Panel, Row, Stack } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { DeleteBySlugDialog } from './delete-by-slug-dialog.tsx';
import { dropSaved } from './drop-saved.ts';

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
                // Stays on a page without an organization until the deletion is loaded.
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

/** Shows the rate limits of the organization, which the operator of the service sets. */
function RateLimitsPanel({ organizationId }: { organizationId: string }) {
  const query = $api.useQuery('get', '/api/v1/organizations/{org_id}/rate-limits', {
    params: { path: { org_id: organizationId } },
  });
  return (
    <Panel title="Rate limits">
      <QueryView query={query}>
        {({ perKey, perOrganization, runsUnderWay }) => (
          <Facts>
            <Fact name="Each API key, each user">{perMinute(perKey)}</Fact>
            <Fact name="All API keys together">{perMinute(perOrganization)}</Fact>
            <Fact name="Runs under way">
              {runsUnderWay === null ? 'No limit' : `${formatCount(runsUnderWay)} at a time`}
            </Fact>
          </Facts>
        )}
      </QueryView>
      <p>
        A request over a limit gets 429 with the seconds to wait (<code>Retry-After</code>). Usage counts them
        by day. The operator of the service sets the limits.
      </p>
    </Panel>
  );
}

function perMinute(limit: number | null): string {
  return limit === null ? 'No limit' : `${formatCount(limit)} requests per minute`;
}
