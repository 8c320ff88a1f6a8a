import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { TextField } from '../ui/text-field.tsx';
import { fromNumber, toNumber } from '../ui/to-number.ts';
import { useIsMounted } from '../ui/use-is-shown.ts';

type Props = { organizationId: string; mark: number | null; onClose: () => void };

/** Sets or removes the balance below which the credits count as low. */
export function LowBalanceDialog({ organizationId, mark, onClose }: Props) {
  const isMounted = useIsMounted();
  const [text, setText] = useState(fromNumber(mark));
  const wanted = toNumber(text) ?? null;
  const isNumber = wanted === null || Number.isFinite(wanted);
  const save = $api.useMutation('put', '/api/v1/organizations/{org_id}/credits', {
    meta: { quiet: true },
    async onSuccess() {
      await refetch('/api/v1/organizations/{org_id}/credits');
      if (isMounted.current) onClose();
    },
  });
  return (
    <FormDialog
      title="Low-balance mark"
      action="Save"
      isOpen
      onClose={onClose}
      change={save}
      fields={['low_balance_mark']}
      isReady={isNumber}
      onSubmit={() =>
        save.mutate({ params: { path: { org_id: organizationId } }, body: { low_balance_mark: wanted } })
      }
    >
      <TextField
        label="Low below, in credits"
        inputMode="decimal"
        autoFocus
        help="When a charge takes the balance below it, the audit log gets an entry. Empty removes the mark."
        value={text}
        onChange={setText}
        error={isNumber ? fieldError(save.error, 'low_balance_mark') : 'Write a number, such as 100.'}
      />
    </FormDialog>
  );
}
