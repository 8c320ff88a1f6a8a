import { Outlet, useParams } from '@tanstack/react-router';
import { useOrganization } from '../shell/me.ts';
import { Badge } from '../ui/badge.tsx';
import { Page } from '../ui/page.tsx';
import { TabLink, TabLinks } from '../ui/tabs.tsx';

/** The settings of an organization, in parts. */
export function SettingsPage() {
  const { org } = useParams({ from: '/orgs/$org/settings' });
  const { name, role } = useOrganization(org);
  const params = { org };
  return (
    <Page
      title="Settings"
      beside={<Badge>You are {role === 'member' ? 'a member' : `an ${role}`}</Badge>}
      text={name}
    >
      <TabLinks label="Parts of the settings">
        <TabLink to="/orgs/$org/settings" params={params} activeOptions={{ exact: true }}>
          Organization
        </TabLink>
        <TabLink to="/orgs/$org/settings/members" params={params}>
          Members
        </TabLink>
        <TabLink to="/orgs/$org/settings/projects" params={params}>
          Projects
        </TabLink>
        <TabLink to="/orgs/$org/settings/model-keys" params={params}>
          Model keys
        </TabLink>
        <TabLink to="/orgs/$org/settings/credits" params={params}>
          Credits
        </TabLink>
        <TabLink to="/orgs/$org/settings/audit-log" params={params}>
          Audit log
        </TabLink>
      </TabLinks>
      <Outlet />
    </Page>
  );
}
