import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/query-options.ts';
import { CreateOrganizationDialog, Invitations } from '../shell/join-organization.tsx';
import { useMe } from '../shell/me.ts';
import { applyTheme, THEMES, useTheme } from '../shell/theme.ts';
import { signOut } from '../sign-in/session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CodeBlock, CopyButton } from '../ui/code-block.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { EmptyState, MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { Clipped, Fact, Facts, Page, Panel, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';

type Assistant = Schemas['Assistant'];

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

/** Chooses the colours of the console, in this browser. */
function ColoursPanel() {
  const theme = useTheme();
  return (
    <Panel
      title="Colours"
      actions={<Select label="Colours" hideLabel options={THEMES} value={theme} onChange={applyTheme} />}
    >
      <p>They are kept in this browser.</p>
    </Panel>
  );
}

/** Lists the assistants that use MCP for the user, and says how to connect one. */
function AssistantsPanel() {
  const [toDisconnect, setToDisconnect] = useState<Assistant>();
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/assistants',
    { params: { query: { limit: 50 } } },
    PAGES,
  );
  return (
    <Panel title="Connected assistants" isFlush={hasSome(query.data?.pages)}>
      <QueryView query={query}>
        {({ pages }) =>
          hasSome(pages) ? (
            <Table label="Connected assistants" head={['Assistant', 'May', 'Since', 'Last used', '']}>
              {pages
                .flatMap((page) => page.assistants)
                .map((assistant) => (
                  <tr key={assistant.id}>
                    <td>
                      <Clipped text={nameOf(assistant)} />
                    </td>
                    <td>{assistant.scopes.join(', ')}</td>
                    <td>
                      <Time at={assistant.firstUsedAt} />
                    </td>
                    <td>
                      <Time at={assistant.lastUsedAt} />
                    </td>
                    <td align="right">
                      <Button
                        size="small"
                        variant="danger"
                        aria-label={`Disconnect ${nameOf(assistant)}`}
                        onPress={() => setToDisconnect(assistant)}
                      >
                        Disconnect
                      </Button>
                    </td>
                  </tr>
                ))}
            </Table>
          ) : (
            <>
              <p>
                None yet. An assistant that speaks MCP designs, tests and publishes flows for you. Give it
                this endpoint; it asks you to sign in and to consent.
              </p>
              <CodeBlock label="the endpoint" text={`${location.origin}/api/v1/mcp/`} />
            </>
          )
        }
      </QueryView>
      <MoreButton query={query} />
      {toDisconnect && (
        <ConfirmDialog
          title={`Disconnect ${nameOf(toDisconnect)}?`}
          action="Disconnect"
          isOpen
          onClose={() => setToDisconnect(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/assistants/{assistant_id}', {
              params: { path: { assistant_id: toDisconnect.id } },
            });
            await refetch('/api/v1/assistants');
          }}
        >
          It can do nothing for you any more, until you sign in with it and consent again.
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function hasSome(pages: Schemas['AssistantList'][] | undefined): boolean {
  return pages?.some(({ assistants }) => assistants.length > 0) ?? false;
}

function nameOf({ name, clientId }: Assistant): string {
  return name ?? clientId ?? 'Unnamed assistant';
}
