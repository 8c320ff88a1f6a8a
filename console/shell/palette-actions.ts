import type { LinkProps } from '@tanstack/react-router';
import type { Place } from './palette-places.ts';

type Action = {
  label: string;
  to: LinkProps['to'];
  /** The dialog that the page opens (`useOpenFromAddress`), or what else its address says. */
  search?: Record<string, string | boolean>;
  needsAdmin?: true;
};

const PROJECT = '/orgs/$org/projects/$project';
const SETTINGS = '/orgs/$org/settings';

const OF_FLOW: readonly Action[] = [
  { label: 'Try the draft', to: `${PROJECT}/flows/$flow`, search: { try: true } },
  { label: 'Publish the draft', to: `${PROJECT}/flows/$flow`, search: { open: 'publish' } },
  { label: 'New test case', to: `${PROJECT}/flows/$flow/tests`, search: { open: 'new' } },
  { label: 'Duplicate the flow', to: `${PROJECT}/flows/$flow`, search: { open: 'duplicate' } },
  { label: 'Export the flow to a file', to: `${PROJECT}/flows/$flow`, search: { open: 'export' } },
];

const OF_PROJECT: readonly Action[] = [
  { label: 'New flow', to: PROJECT, search: { open: 'new' } },
  { label: 'Import a flow from a file', to: PROJECT, search: { open: 'import' } },
  { label: 'New API key', to: `${PROJECT}/keys`, search: { open: 'new' }, needsAdmin: true },
];

const OF_ORGANIZATION: readonly Action[] = [
  { label: 'New project', to: `${SETTINGS}/projects`, search: { open: 'new' }, needsAdmin: true },
  { label: 'Invite a member', to: `${SETTINGS}/members`, search: { open: 'invite' }, needsAdmin: true },
  { label: 'Set a model key', to: `${SETTINGS}/model-keys`, needsAdmin: true },
  {
    label: 'Rotate the webhook secret',
    to: '/orgs/$org/webhooks/secret',
    search: { open: 'rotate' },
    needsAdmin: true,
  },
];

type Named = { slug: string; name: string };

/** Where the actions apply. `flow`: the slug of the flow whose page is open. */
type Here = {
  organization: Named & { role: 'member' | 'admin' | 'owner' };
  project?: Named | undefined;
  flow?: string | undefined;
};

/** Lists the actions whose name contains the text and that the user's role allows: on the flow, the project, the organization. */
export function listActions({ organization, project, flow }: Here, text: string): Place[] {
  const params = { org: organization.slug, ...(project && { project: project.slug }), ...(flow && { flow }) };
  const place = (actions: readonly Action[], where: string | undefined): Place[] =>
    where === undefined
      ? []
      : actions
          .filter(({ needsAdmin }) => !needsAdmin || organization.role !== 'member')
          .map(({ label, to, search }) => ({
            ...{ id: `action ${label}`, label, detail: `Action · ${where}`, to, params },
            ...(search && { search }),
          }));
  return [
    ...(project ? [...place(OF_FLOW, flow), ...place(OF_PROJECT, project.name)] : []),
    ...place(OF_ORGANIZATION, organization.name),
  ].filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}
