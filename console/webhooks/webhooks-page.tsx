import { Outlet, useMatchRoute, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useOrganization } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { TabLink, TabLinks } from '../ui/tabs.tsx';
import { RecoverDialog } from './recover-dialog.tsx';
import { TestEventDialog } from './test-event-dialog.tsx';

/** The webhooks of an organization: deliveries, and the secret that signs them. */
export function WebhooksPage() {
  const { org } = useParams({ from: '/orgs/$org/webhooks' });
  const organization = useOrganization(org);
  const isSecret = useMatchRoute()({ to: '/orgs/$org/webhooks/secret', params: { org } }) !== false;
  const [opened, setOpened] = useState<'recover' | 'test'>();
  return (
    <Page
      title="Webhooks"
      part={isSecret ? 'Signing secret' : undefined}
      text="When a run that was submitted with a callbackUrl ends, Weir posts its result to that address."
      actions={
        <>
          <Button onPress={() => setOpened('recover')}>Recover …</Button>
          <Button variant="primary" onPress={() => setOpened('test')}>
            Send a test event
          </Button>
        </>
      }
    >
      <TabLinks label="Parts of webhooks">
        <TabLink
          to="/orgs/$org/webhooks"
          params={{ org }}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          Deliveries
        </TabLink>
        <TabLink to="/orgs/$org/webhooks/secret" params={{ org }}>
          Signing secret
        </TabLink>
      </TabLinks>
      <Outlet />
      {opened === 'recover' && (
        <RecoverDialog organizationId={organization.id} onClose={() => setOpened(undefined)} />
      )}
      {opened === 'test' && (
        <TestEventDialog organization={organization} onClose={() => setOpened(undefined)} />
      )}
    </Page>
  );
}
