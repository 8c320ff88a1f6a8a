// The ways into an organization: an invitation, or a new one.
import { $api } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { Panel } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { invalidateMe, useMe } from './me.ts';

/** The pending invitations of the user; nothing when there are none. */
export function Invitations() {
  const { invitations } = useMe();
  const accept = $api.useMutation('post', '/api/v1/invitations/{invitation_id}/accept', {
    async onSuccess({ organization }) {
      showToast({ tone: 'good', title: `You are a member of ${organization.name} now.` });
      await invalidateMe();
    },
  });
  if (invitations.length === 0) return null;
  return (
    <Panel title="Invitations" isFlush>
      <Table label="Invitations" head={['Organization', 'Role', 'Invited by', 'Expires', '']}>
        {invitations.map(({ id, organization, role, invitedBy, expiresAt }) => (
          <tr key={id}>
            <td>
              <Clipped text={organization.name} />
            </td>
            <td>{role}</td>
            <td>
              <Clipped text={invitedBy} />
            </td>
            <td>
              <Time at={expiresAt} />
            </td>
            <td align="right">
              <Button
                size="small"
                variant="primary"
                aria-label={`Join ${organization.name}`}
                isPending={accept.isPending}
                onPress={() => accept.mutate({ params: { path: { invitation_id: id } } })}
              >
                Join
              </Button>
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
