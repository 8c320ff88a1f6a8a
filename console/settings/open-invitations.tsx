import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/pages.ts';
import { refetch } from '../api/query-client.ts';
import { useUserName } from '../shell/use-user-name.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

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
                  <td>{invitation.role}</td>
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
                      text={`You are invited to Weir as ${invitation.role}. Sign in at ${location.origin}/console/ with the e-mail address ${invitation.email}, and accept the invitation.`}
                      label={`Copy a message to ${invitation.email}`}
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
