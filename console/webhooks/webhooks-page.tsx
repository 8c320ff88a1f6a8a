import { useMutation } from '@tanstack/react-query';
import { Outlet, useMatchRoute, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api, api, refetch } from '../api/client.ts';
import { type MyOrganization, useOrganization } from '../shell/me.ts';
import { ListenNote } from '../shell/notes.tsx';
import { Button } from '../ui/button.tsx';
import { FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { Note } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { formatCount } from '../ui/format.ts';
import { Page } from '../ui/page.tsx';
import { TabLink, TabLinks } from '../ui/tabs.tsx';
import { EVENTS } from './search.ts';

const HOUR_MS = 3_600_000;

const SPANS = [
  { id: '24', label: 'Last 24 hours' },
  { id: '168', label: 'Last 7 days' },
  { id: '720', label: 'Last 30 days' },
] as const;

const STATUSES = [
  { id: 'dead_letter', label: 'Dead letter', description: 'Six attempts failed.' },
  { id: 'failed_permanent', label: 'Refused', description: 'The receiver answered 3xx or 4xx.' },
] as const;

const OPTIONS = EVENTS.map((id) => ({ id, label: id }));

/** The webhooks of an organization: deliveries, and the secret that signs them. */
export function WebhooksPage() {
  const { org } = useParams({ from: '/orgs/$org/webhooks' });
  const organization = useOrganization(org);
  const isSecret = useMatchRoute()({ to: '/orgs/$org/webhooks/secret', params: { org } }) !== false;
  const [opened, setOpened] = useState<'recover' | 'test'>();
  return (
    <Page
      title="Webhooks"
      part={isSecret ? 'Signing secret' : undefined}
      text="When a run that was submitted with a callbackUrl ends, Weir posts its result to that address."
      actions={
        <>
          <Button onPress={() => setOpened('recover')}>Recover …</Button>
          <Button variant="primary" onPress={() => setOpened('test')}>
            Send a test event
          </Button>
        </>
      }
    >
      <TabLinks label="Parts of webhooks">
        <TabLink
          to="/orgs/$org/webhooks"
          params={{ org }}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          Deliveries
        </TabLink>
        <TabLink to="/orgs/$org/webhooks/secret" params={{ org }}>
          Signing secret
        </TabLink>
      </TabLinks>
      <Outlet />
      {opened === 'recover' && (
        <RecoverDialog organizationId={organization.id} onClose={() => setOpened(undefined)} />
      )}
      {opened === 'test' && (
        <TestEventDialog organization={organization} onClose={() => setOpened(undefined)} />
      )}
    </Page>
  );
}

/** Sends a test event to a receiver, and opens its delivery. */
function TestEventDialog({ organization, onClose }: { organization: MyOrganization; onClose: () => void }) {
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [url, setUrl] = useState('');
  const [event, setEvent] = useState<(typeof EVENTS)[number]>('flow.completed');
  const send = $api.useMutation('post', '/api/v1/organizations/{org_id}/webhooks/test', {
    meta: { quiet: true },
    async onSuccess({ id }) {
      await refetch('/api/v1/organizations/{org_id}/webhooks/deliveries');
      if (!isMounted.current) return;
      onClose();
      await navigate({
        to: '/orgs/$org/webhooks/$deliveryId',
        params: { org: organization.slug, deliveryId: id },
      });
    },
  });
  const refused = fieldError(send.error, 'url');
  return (
    <FormDialog
      title="Send a test event"
      action="Send"
      isOpen
      onClose={onClose}
      change={send}
      fields={['url']}
      isReady={url.trim() !== ''}
      onSubmit={() =>
        send.mutate({ params: { path: { org_id: organization.id } }, body: { url: url.trim(), event } })
      }
    >
      <TextField
        label="Receiver"
        type="url"
        autoFocus
        placeholder="https://hooks.example.com/weir"
        help="An https address that the internet can reach. The event says “test”: true, and is signed like any other."
        value={url}
        onChange={setUrl}
        error={refused && `The address ${refused.charAt(0).toLowerCase()}${refused.slice(1)}`}
      />
      <ListenNote />
      <Select label="Event" options={OPTIONS} value={event} onChange={setEvent} />
    </FormDialog>
  );
}

/** Sends the failed deliveries of a period again. */
function RecoverDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const [hours, setHours] = useState<(typeof SPANS)[number]['id']>('168');
  const [status, setStatus] = useState<(typeof STATUSES)[number]['id']>('dead_letter');
  /** Where the next page begins. Deliveries before it were sent again, and may have failed again. */
  const [cursor, setCursor] = useState<string | null>(null);
  const recover = useMutation({
    meta: { quiet: true },
    async mutationFn() {
      const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
      const { data } = await api.POST('/api/v1/organizations/{org_id}/webhooks/recover', {
        params: { path: { org_id: organizationId } },
        body: { since, status, ...(cursor && { cursor }) },
      });
      return data;
    },
    onSuccess: (data) => {
      setCursor(data?.nextCursor ?? null);
      return refetch('/api/v1/organizations/{org_id}/webhooks/deliveries');
    },
  });
  function change(set: () => void) {
    set();
    setCursor(null);
    recover.reset();
  }
  return (
    <FormDialog
      title="Recover deliveries"
      action={cursor ? 'Send the next ones' : 'Send them again'}
      isOpen
      onClose={onClose}
      change={recover}
      onSubmit={() => recover.mutate()}
    >
      <p>
        All failed deliveries that were created in this time are sent again, each in a new round of six
        attempts, up to 1,000 at once. The sixth attempt of a delivery comes about 15 hours after the first.
      </p>
      <Select
        label="Created within"
        options={SPANS}
        value={hours}
        isDisabled={recover.isPending}
        onChange={(next) => change(() => setHours(next))}
      />
      <Select
        label="Status"
        options={STATUSES}
        value={status}
        isDisabled={recover.isPending}
        onChange={(next) => change(() => setStatus(next))}
      />
      {recover.data && (
        <Note>
          <span role="status">
            {recover.data.recovered === 0
              ? 'Nothing to send.'
              : `Being sent again: ${formatCount(recover.data.recovered)}.`}{' '}
            {recover.data.hasMore && 'There are more.'}
          </span>
        </Note>
      )}
    </FormDialog>
  );
}
