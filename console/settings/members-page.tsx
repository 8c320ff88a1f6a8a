import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/query-options.ts';
import { hasRole, invalidateMe, useMe, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog, FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Clipped, Panel, Row, Stack, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { InviteDialog, OpenInvitations, ROLE_OPTIONS } from './invitations.tsx';
import style from './settings.module.css';

const MEMBERS = '/api/v1/organizations/{org_id}/members';
const MEMBER = '/api/v1/organizations/{org_id}/members/{member_user_id}';
/** The user whose tokens `weir token` issues under `npm start`. */
const SCRIPT_USER_ID = 'weir-script';
const OWNER_OPTION = {
  id: 'owner',
  label: 'Owner',
  description: 'Also manages owners, and deletes the organization.',
} as const;
type Member = Schemas['Member'];

/** The members of an organization with their roles, and its open invitations. */
export function MembersPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/members' });
  const { userId } = useMe();
  const organization = useOrganization(org);
  const isAdmin = hasRole(organization, 'admin');
  const [opened, setOpened] = useState<'invite' | 'add'>();
  useOpenFromAddress('invite', () => isAdmin && setOpened('invite'));
  const [toRemove, setToRemove] = useState<Member>();
  const [toOwn, setToOwn] = useState<Member>();
  const [isLeaving, setLeaving] = useState(false);
  const navigate = useNavigate();
  const isOwner = hasRole(organization, 'owner');
  const query = $api.useInfiniteQuery(
    'get',
    MEMBERS,
    { params: { path: { org_id: organization.id }, query: { limit: 100 } } },
    PAGES,
  );
  const roleOf = ({ user_id }: Member, role: Member['role']) => ({
    params: { path: { org_id: organization.id, member_user_id: user_id } },
    body: { role },
  });
  const change = $api.useMutation('put', MEMBER, { onSettled: () => refetch(MEMBERS) });
  const actions = (
    <Row>
      <Button size="small" isDisabled={!isAdmin} onPress={() => setOpened('add')}>
        Add by user id
      </Button>
      <Button size="small" variant="primary" isDisabled={!isAdmin} onPress={() => setOpened('invite')}>
        Invite
      </Button>
    </Row>
  );
  return (
    <Stack>
      <RoleNote organization={organization} needed="admin" to="invite people or change their roles" />
      <Panel title="Members" isFlush actions={actions}>
        <QueryView query={query}>
          {({ pages }) => (
            <Table label="Members" head={['Member', 'User id', 'Role', 'Since', '']}>
              {pages
                .flatMap((page) => page.members)
                .map((member) => (
                  <tr key={member.user_id}>
                    <td>
                      <Clipped text={nameOf(member)} />
                      {member.name && member.email && <Clipped text={member.email} />}
                      {member.user_id === SCRIPT_USER_ID && <div>The account of weir token at npm start</div>}
                    </td>
                    <td>
                      <Clipped text={member.user_id} />
                    </td>
                    <td className={style.role}>
                      {isAdmin && (isOwner || member.role !== 'owner') && member.user_id !== userId ? (
                        <Select
                          label={`Role of ${nameOf(member)}`}
                          hideLabel
                          options={isOwner ? [...ROLE_OPTIONS, OWNER_OPTION] : ROLE_OPTIONS}
                          value={member.role}
                          onChange={(role) =>
                            role === 'owner' ? setToOwn(member) : change.mutate(roleOf(member, role))
                          }
                        />
                      ) : (
                        <Badge tone={member.role === 'owner' ? 'accent' : 'idle'}>
                          {[...ROLE_OPTIONS, OWNER_OPTION].find(({ id }) => id === member.role)?.label ??
                            member.role}
                        </Badge>
                      )}
                    </td>
                    <td>
                      <Time at={member.createdAt} />
                    </td>
                    <td align="right">
                      {member.user_id === userId ? (
                        <>
                          <Badge>You</Badge>{' '}
                          <Button size="small" variant="danger" onPress={() => setLeaving(true)}>
                            Leave
                          </Button>
                        </>
                      ) : (
                        <Button
                          size="small"
                          variant="danger"
                          aria-label={`Remove ${nameOf(member)}`}
                          isDisabled={!hasRole(organization, member.role === 'owner' ? 'owner' : 'admin')}
                          onPress={() => setToRemove(member)}
                        >
                          Remove
                        </Button>
                      )}
                    </td>
                  </tr>
                ))}
            </Table>
          )}
        </QueryView>
        <MoreButton query={query} />
      </Panel>
      {isAdmin && <OpenInvitations organizationId={organization.id} />}
      {opened === 'invite' && (
        <InviteDialog organizationId={organization.id} onClose={() => setOpened(undefined)} />
      )}
      {opened === 'add' && (
        <AddMemberDialog organizationId={organization.id} onClose={() => setOpened(undefined)} />
      )}
      {toOwn && (
        <ConfirmDialog
          title={`Make ${nameOf(toOwn)} an owner?`}
          action="Make an owner"
          isOpen
          onClose={() => setToOwn(undefined)}
          onConfirm={async () => {
            await api.PUT(MEMBER, roleOf(toOwn, 'owner'));
            await refetch(MEMBERS);
          }}
        >
          Owners can do everything in {organization.name}: they also change and remove other owners, you among
          them, and delete the organization.
        </ConfirmDialog>
      )}
      <ConfirmDialog
        title={`Leave ${organization.name}?`}
        action="Leave"
        isOpen={isLeaving}
        onClose={() => setLeaving(false)}
        onConfirm={async () => {
          await api.DELETE(MEMBER, {
            params: { path: { org_id: organization.id, member_user_id: userId } },
          });
          // Stays on a page without an organization until the loss is loaded.
          await navigate({ to: '/account' });
          await invalidateMe();
          await navigate({ to: '/', replace: true });
        }}
      >
        You can no longer see anything of it. API keys you have created and runs you have started continue;
        your open invitations end.
      </ConfirmDialog>
      {toRemove && (
        <ConfirmDialog
          title={`Remove ${nameOf(toRemove)}?`}
          action="Remove"
          isOpen
          onClose={() => setToRemove(undefined)}
          onConfirm={async () => {
            await api.DELETE(MEMBER, {
              params: { path: { org_id: organization.id, member_user_id: toRemove.user_id } },
            });
            await refetch(MEMBERS);
          }}
        >
          They can no longer see anything of {organization.name}. API keys they have created and runs they
          have started continue; their open invitations end.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function nameOf({ name, email, user_id }: Member): string {
  return name ?? email ?? user_id;
}

/** Adds a member by the user id at the identity provider. */
function AddMemberDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
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
