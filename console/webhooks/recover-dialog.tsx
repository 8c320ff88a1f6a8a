import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { refetch } from '../api/query-client.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatCount } from '../ui/format.ts';
import { Note } from '../ui/note.tsx';
import { Select } from '../ui/select.tsx';

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

/** Sends the failed deliveries of a period again. */
export function RecoverDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
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
