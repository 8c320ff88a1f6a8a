import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CreateOrganizationDialog } from '../shell/create-organization-dialog.tsx';
import { Invitations } from '../shell/invitations.tsx';
import { useMe } from '../shell/me.ts';
import { signOut } from '../sign-in/session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { Fact, Facts, Table } from '../ui/table.tsx';
import { AssistantsPanel } from './assistants-panel.tsx';
import { ColoursPanel } from './colours-panel.tsx';

/** Shows the user: name, organizations, connected assistants, colours and the command line. */
export function AccountPage() {
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  return (
    <Page title="Account" actions={<Button onPress={() => void signOut()}>Sign out</Button>}>
      <Panel>
        <Facts>
          <Fact name="Name">
            <bdi>{me.name ?? '—'}</bdi>
          </Fact>
          <Fact name="E-mail address">
            {me.email ? (
              <>
                <bdi>{me.email}</bdi>{' '}
                {me.emailVerified ? (
                  <Badge tone="good">Verified</Badge>
                ) : (
                  <Badge tone="warn">Not verified</Badge>
                )}
              </>
            ) : (
              '—'
            )}
          </Fact>
          <Fact name="User id">
            <code>{me.userId}</code> <CopyButton text={me.userId} label="Copy the user id" />
          </Fact>
        </Facts>
      </Panel>
      <Invitations />
      <Panel
        title="Organizations"
        isFlush
        actions={
          <Button size="small" onPress={() => setOpen(true)}>
            New organization
          </Button>
        }
      >
        {me.organizations.length === 0 ? (
          <EmptyState
            title="None"
            text="Create one, or ask an owner or admin of one to invite you by your e-mail address."
          />
        ) : (
          <Table label="Organizations" head={['Organization', 'Your role', 'Projects']}>
            {me.organizations.map((organization) => (
              <tr key={organization.id}>
                <td>
                  <Link to="/orgs/$org/settings" params={{ org: organization.slug }}>
                    <Clipped text={organization.name} />
                  </Link>
                  <code>{organization.slug}</code>
                </td>
                <td>
                  <Badge tone={organization.role === 'owner' ? 'accent' : 'idle'}>{organization.role}</Badge>
                </td>
                <td>
                  {organization.projects.length}
                  {me.hasMore && '+'}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      <AssistantsPanel />
      <ColoursPanel />
      <Panel title="Command line">
        <p>
          Sign in on the command line with the same account. It keeps a token of its own, which ends when you
          sign out there.
        </p>
        <CodeBlock label="the command" text={`weir login ${location.origin}`} />
      </Panel>
      {isOpen && <CreateOrganizationDialog onClose={() => setOpen(false)} />}
    </Page>
  );
}
