import { Outlet, useMatchRoute, useParams } from '@tanstack/react-router';
import { useOrganization } from '../shell/me.ts';
import { Badge } from '../ui/badge.tsx';
import { Page } from '../ui/page.tsx';
import { TabLink, TabLinks } from '../ui/tabs.tsx';

const PARTS = [
  { to: '/orgs/$org/settings', name: 'Organization' },
  { to: '/orgs/$org/settings/members', name: 'Members' },
  { to: '/orgs/$org/settings/projects', name: 'Projects' },
  { to: '/orgs/$org/settings/model-keys', name: 'Model keys' },
  { to: '/orgs/$org/settings/credits', name: 'Credits' },
  { to: '/orgs/$org/settings/audit-log', name: 'Audit log' },
] as const;

/** The settings of an organization, with tabs. */
export function SettingsPage() {
  const { org } = useParams({ from: '/orgs/$org/settings' });
  const { name, role } = useOrganization(org);
  const isAt = useMatchRoute();
  const params = { org };
  return (
    <Page
      title="Settings"
      part={PARTS.find(({ to }) => isAt({ to, params }))?.name}
      beside={<Badge>You are {role === 'member' ? 'a member' : `an ${role}`}</Badge>}
      text={name}
    >
      <TabLinks label="Parts of the settings">
        {PARTS.map(({ to, name }) => (
          <TabLink key={to} to={to} params={params} activeOptions={{ exact: true, includeSearch: false }}>
            {name}
          </TabLink>
        ))}
      </TabLinks>
      <Outlet />
    </Page>
  );
}
