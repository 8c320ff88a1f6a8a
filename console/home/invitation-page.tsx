import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { invalidateMe, loadMe, useMe } from '../shell/me.ts';
import { signOut } from '../sign-in/session.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { EmptyState } from '../ui/feedback.tsx';
import { Page, Panel } from '../ui/page.tsx';

/** The page of the link in an invitation: accepts it, and opens a project of the organization. */
export function InvitationPage() {
  const { invitationId } = useParams({ from: '/invitations/$invitationId' });
  const { invitations, email, name, userId } = useMe();
  // Stays while the page of the project is opened.
  const [invitation] = useState(invitations.find(({ id }) => id === invitationId));
  const navigate = useNavigate();
  const accept = $api.useMutation('post', '/api/v1/invitations/{invitation_id}/accept', {
    async onSuccess({ organization: { slug: org } }) {
      await invalidateMe();
      const joined = (await loadMe()).organizations.find(({ slug }) => slug === org);
      const project = joined?.projects[0]?.slug;
      if (project === undefined) await navigate({ to: '/orgs/$org/settings/projects', params: { org } });
      else await navigate({ to: '/orgs/$org/projects/$project', params: { org, project } });
    },
  });
  const user = email ?? name ?? userId;
  return (
    <Page title="Invitation">
      <Panel>
        {invitation ? (
          <EmptyState
            title={`Join ${invitation.organization.name}`}
            text={`${invitation.inviterName ?? invitation.invitedBy} invites you (${user}) to join as ${invitation.role}.`}
          >
            <Button
              variant="primary"
              isPending={accept.isPending || accept.isSuccess}
              onPress={() => accept.mutate({ params: { path: { invitation_id: invitationId } } })}
            >
              Join
            </Button>
          </EmptyState>
        ) : (
          <EmptyState
            title="No open invitation"
            text={`The invitation is not for ${user}, or it was accepted, revoked, or has expired. Sign in with the address to which it was sent, or ask for another.`}
          >
            <Button onPress={() => void signOut()}>Sign in with another address</Button>
            <LinkButton variant="primary" to="/">
              To your projects
            </LinkButton>
          </EmptyState>
        )}
      </Panel>
    </Page>
  );
}
