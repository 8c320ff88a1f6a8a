import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { ListenNote } from '../shell/listen-note.tsx';
import type { MyOrganization } from '../shell/me.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { EVENTS } from './search.ts';

const OPTIONS = EVENTS.map((id) => ({ id, label: id }));

/** Sends a test event to a receiver, and opens its delivery. */
export function TestEventDialog({
  organization,
  onClose,
}: {
  organization: MyOrganization;
  onClose: () => void;
}) {
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
