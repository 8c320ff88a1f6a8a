// The ways into an organization: an invitation, or a new one.

import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { toSlug } from '../ui/fields/read-text.ts';
import { TextField } from '../ui/fields/text-field.tsx';
import { Clipped, Panel, Table } from '../ui/page.tsx';
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
        {invitations.map(({ id, organization, role, invitedBy, inviterName, expiresAt }) => (
          <tr key={id}>
            <td>
              <Clipped text={organization.name} />
            </td>
            <td>{role}</td>
            <td>
              <Clipped text={inviterName ?? invitedBy} />
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

/** Creates an organization with the user as owner, and opens its projects. */
export function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [name, setName] = useState('');
  const [typedSlug, setSlug] = useState<string>();
  const slug = typedSlug ?? toSlug(name);
  const create = $api.useMutation('post', '/api/v1/organizations', {
    meta: { quiet: true },
    async onSuccess(organization) {
      await invalidateMe();
      if (!isMounted.current) return;
      onClose();
      await navigate({ to: '/orgs/$org/settings/projects', params: { org: organization.slug } });
    },
  });
  return (
    <FormDialog
      title="New organization"
      action="Create organization"
      isOpen
      onClose={onClose}
      change={create}
      fields={['name', 'slug']}
      isReady={name.trim() !== ''}
      onSubmit={() => create.mutate({ body: { name: name.trim(), slug } })}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(create.error, 'name')}
      />
      <TextField
        label="Slug"
        isMono
        help={`Part of the addresses of its flows: /api/v1/seq/${slug || '…'}/…; it cannot be changed later.`}
        value={slug}
        onChange={setSlug}
        error={fieldError(create.error, 'slug')}
      />
    </FormDialog>
  );
}
