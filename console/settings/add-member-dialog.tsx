import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { ROLE_OPTIONS } from './role-options.ts';

/** Adds a member by the user id at the identity provider. */
export function AddMemberDialog({
  organizationId,
  onClose,
}: {
  organizationId: string;
  onClose: () => void;
}) {
  const isMounted = useIsMounted();
  const [userId, setUserId] = useState('');
  const [role, setRole] = useState<'admin' | 'member'>('member');
  const add = $api.useMutation('post', '/api/v1/organizations/{org_id}/members', {
    meta: { quiet: true },
    async onSuccess() {
      await refetch('/api/v1/organizations/{org_id}/members');
      if (isMounted.current) onClose();
    },
  });
  return (
    <FormDialog
      title="Add a member"
      action="Add member"
      isOpen
      onClose={onClose}
      change={add}
      fields={['user_id']}
      isReady={userId.trim() !== ''}
      onSubmit={() =>
        add.mutate({
          params: { path: { org_id: organizationId } },
          body: { user_id: userId.trim(), role },
        })
      }
    >
      <TextField
        label="User id"
        isMono
        autoFocus
        help="The id at the identity provider (sub). Everybody sees their own on the page “Account”."
        value={userId}
        onChange={setUserId}
        error={fieldError(add.error, 'user_id')}
      />
      <Select label="Role" options={ROLE_OPTIONS} value={role} onChange={setRole} />
    </FormDialog>
  );
}
