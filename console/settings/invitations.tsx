import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/query-options.ts';
import { useUserName } from '../shell/me.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CodeBlock, CopyButton } from '../ui/code-block.tsx';
import { ConfirmDialog, Dialog, DialogActions, FormDialog } from '../ui/dialog.tsx';
import { MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Clipped, Panel, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { useReturnFocus } from '../ui/use-return-focus.ts';

/** The roles that the API can give; owners are created by the operator. */
export const ROLE_OPTIONS = [
  { id: 'member', label: 'Member', description: 'Creates, edits, runs and publishes flows.' },
  {
    id: 'admin',
    label: 'Admin',
    description: 'Also manages members, projects, keys and webhook secrets, and deletes flows.',
  },
] as const;

const INVITATIONS = '/api/v1/organizations/{org_id}/invitations';

/** The open invitations of an organization; nothing when there are none. */
export function OpenInvitations({ organizationId }: { organizationId: string }) {
  const [toRevoke, setToRevoke] = useState<Schemas['Invitation']>();
  const nameOfUser = useUserName(organizationId);
  const query = $api.useInfiniteQuery(
    'get',
    INVITATIONS,
    { params: { path: { org_id: organizationId }, query: { limit: 100 } } },
    PAGES,
  );
  if (!toRevoke && query.data?.pages.every(({ invitations }) => invitations.length === 0)) return null;
  return (
    <Panel title="Invitations" isFlush>
      <QueryView query={query}>
        {({ pages }) => (
          <Table label="Invitations" head={['Address', 'Role', 'Invited by', 'Expires', '']}>
            {pages
              .flatMap((page) => page.invitations)
              .map((invitation) => (
                <tr key={invitation.id}>
                  <td>
                    <Clipped text={invitation.email} />
                  </td>
                  <td>{ROLE_OPTIONS.find(({ id }) => id === invitation.role)?.label}</td>
                  <td>
                    <Clipped text={nameOfUser(invitation.invitedBy)} />
                  </td>
                  <td>
                    {invitation.state === 'expired' ? (
                      <Badge tone="warn">Expired</Badge>
                    ) : (
                      <Time at={invitation.expiresAt} />
                    )}
                  </td>
                  <td align="right">
                    <CopyButton
                      text={`${location.origin}/console/invitations/${invitation.id}`}
                      label={`Copy the link for ${invitation.email}`}
                    />{' '}
                    <Button
                      size="small"
                      variant="danger"
                      aria-label={`Revoke the invitation of ${invitation.email}`}
                      onPress={() => setToRevoke(invitation)}
                    >
                      Revoke
                    </Button>
                  </td>
                </tr>
              ))}
          </Table>
        )}
      </QueryView>
      <MoreButton query={query} />
      {toRevoke && (
        <ConfirmDialog
          title="Revoke the invitation?"
          action="Revoke"
          isOpen
          onClose={() => setToRevoke(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/organizations/{org_id}/invitations/{invitation_id}', {
              params: { path: { org_id: organizationId, invitation_id: toRevoke.id } },
            });
            await refetch(INVITATIONS);
          }}
        >
          <bdi>{toRevoke.email}</bdi> can no longer accept it. You can invite them again.
        </ConfirmDialog>
      )}
    </Panel>
  );
}

/** Invites somebody by e-mail address, and shows the link to send. */
export function InviteDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<'admin' | 'member'>('member');
  useReturnFocus();
  const invite = $api.useMutation('post', '/api/v1/organizations/{org_id}/invitations', {
    meta: { quiet: true },
    onSuccess: () => refetch('/api/v1/organizations/{org_id}/invitations'),
  });
  if (invite.data) {
    return (
      <Dialog title={`${invite.data.email} is invited`} isOpen onClose={onClose} width="36rem">
        <p>
          Weir sends no e-mail: send this link yourself. It asks them to sign in with that address, and leads
          to your projects. It is valid for 7 days.
        </p>
        <CodeBlock
          label="the link"
          text={`${location.origin}/console/invitations/${invite.data.id}`}
          isWrapped
        />
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
