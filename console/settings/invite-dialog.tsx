import { useState } from 'react';
import { $api } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useReturnFocus } from '../ui/use-return-focus.ts';
import { ROLE_OPTIONS } from './role-options.ts';

/** Invites somebody by e-mail address, and shows the message to send. */
export function InviteDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<'admin' | 'member'>('member');
  useReturnFocus();
  const invite = $api.useMutation('post', '/api/v1/organizations/{org_id}/invitations', {
    meta: { quiet: true },
    onSuccess: () => refetch('/api/v1/organizations/{org_id}/invitations'),
  });
  if (invite.data) {
    const link = `${location.origin}/console/`;
    const text = `${invite.data.message}\n\nOr in the browser, at ${link}`;
    return (
      <Dialog title={`${invite.data.email} is invited`} isOpen onClose={onClose} width="36rem">
        <p>
          Weir sends no e-mail: send this message yourself. The invitation shows in the console once they have
          signed in with that address.
        </p>
        <CodeBlock label="the message" text={text} isWrapped />
        <DialogActions>
          <Button variant="primary" onPress={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Invite somebody"
      action="Invite"
      isOpen
      onClose={onClose}
      change={invite}
      fields={['email']}
      isReady={email.trim() !== ''}
      onSubmit={() =>
        invite.mutate({ params: { path: { org_id: organizationId } }, body: { email: email.trim(), role } })
      }
    >
      <TextField
        label="E-mail address"
        type="email"
        autoFocus
        help="They sign in with this address, which the identity provider has to say is verified, and accept within 7 days."
        value={email}
        onChange={setEmail}
        error={fieldError(invite.error, 'email')}
      />
      <Select label="Role" options={ROLE_OPTIONS} value={role} onChange={setRole} />
    </FormDialog>
  );
}
