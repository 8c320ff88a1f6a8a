// Every address of the console and its page. Pages are loaded when they are first opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { readVersionsSearch } from './flow/versions/versions-search.ts';
import { HomePage } from './home/home-page.tsx';
import { readFlowsSearch } from './home/search.ts';
import { parseRunFilter, parseRunView } from './runs/search.ts';
import { readAuditSearch, readLedgerSearch } from './settings/search.ts';
import { dropUnknown } from './shell/drop-unknown.ts';
import { loadMe, requireReachable } from './shell/me.ts';
import { NotFoundPage, ProblemPage } from './shell/problem-page.tsx';
import { Shell } from './shell/shell.tsx';
import { Loading } from './ui/feedback.tsx';
import { readUsageSearch, type UsageSearch } from './usage/search.ts';
import { readDeliveryFilter } from './webhooks/search.ts';

const root = createRootRoute({ component: Shell, loader: loadMe, notFoundComponent: NotFoundPage });
const home = createRoute({ getParentRoute: () => root, path: '/', component: HomePage });
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('./account/account-page.tsx'), 'AccountPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$invitationId',
  component: lazyRouteComponent(() => import('./home/invitation-page.tsx'), 'InvitationPage'),
});

const org = createRoute({
  getParentRoute: () => root,
  path: '/orgs/$org',
  beforeLoad: ({ params }) => requireReachable(params),
});
const orgHome = createRoute({
  getParentRoute: () => org,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/orgs/$org/settings', params, replace: true });
  },
});
const webhooks = createRoute({
  getParentRoute: () => org,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const deliveries = createRoute({
  getParentRoute: () => webhooks,
  path: '/',
  validateSearch: dropUnknown(readDeliveryFilter),
  component: lazyRouteComponent(() => import('./webhooks/deliveries-page.tsx'), 'DeliveriesPage'),
});
const secret = createRoute({
  getParentRoute: () => webhooks,
  path: '/secret',
  component: lazyRouteComponent(() => import('./webhooks/secret-page.tsx'), 'SecretPage'),
});
const delivery = createRoute({
  getParentRoute: () => org,
  path: '/webhooks/$deliveryId',
  component: lazyRouteComponent(() => import('./webhooks/delivery-page.tsx'), 'DeliveryPage'),
});
const usage = createRoute({
  getParentRoute: () => org,
  path: '/usage',
  validateSearch: dropUnknown<UsageSearch>(readUsageSearch),
  beforeLoad: ({ params, search: { project } }) =>
    requireReachable({ ...params, ...(project && { project }) }),
  component: lazyRouteComponent(() => import('./usage/usage-page.tsx'), 'UsagePage'),
});
const settings = createRoute({
  getParentRoute: () => org,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
});
const organization = createRoute({
  getParentRoute: () => settings,
  path: '/',
  component: lazyRouteComponent(() => import('./settings/organization-page.tsx'), 'OrganizationPage'),
});
const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  component: lazyRouteComponent(() => import('./settings/members-page.tsx'), 'MembersPage'),
});
const projects = createRoute({
  getParentRoute: () => settings,
  path: '/projects',
  component: lazyRouteComponent(() => import('./settings/projects-page.tsx'), 'ProjectsPage'),
});
const modelKeys = createRoute({
  getParentRoute: () => settings,
  path: '/model-keys',
  component: lazyRouteComponent(() => import('./settings/model-keys-page.tsx'), 'ModelKeysPage'),
});
const credits = createRoute({
  getParentRoute: () => settings,
  path: '/credits',
  validateSearch: dropUnknown(readLedgerSearch),
  component: lazyRouteComponent(() => import('./settings/credits-page.tsx'), 'CreditsPage'),
});
const auditLog = createRoute({
  getParentRoute: () => settings,
  path: '/audit-log',
  validateSearch: dropUnknown(readAuditSearch),
  component: lazyRouteComponent(() => import('./settings/audit-log-page.tsx'), 'AuditLogPage'),
});

const project = createRoute({
  getParentRoute: () => org,
  path: '/projects/$project',
  beforeLoad: ({ params }) => requireReachable(params),
});
const flows = createRoute({
  getParentRoute: () => project,
  path: '/',
  validateSearch: dropUnknown(readFlowsSearch),
  component: lazyRouteComponent(() => import('./home/project-page.tsx'), 'ProjectPage'),
});
const apiKeys = createRoute({
  getParentRoute: () => project,
  path: '/keys',
  component: lazyRouteComponent(() => import('./settings/api-keys-page.tsx'), 'ApiKeysPage'),
});
const runs = createRoute({
  getParentRoute: () => project,
  path: '/runs',
  validateSearch: dropUnknown(parseRunFilter),
  component: lazyRouteComponent(() => import('./runs/runs-page.tsx'), 'RunsPage'),
});
const bulkRetries = createRoute({
  getParentRoute: () => project,
  path: '/bulk-retries',
  component: lazyRouteComponent(() => import('./runs/bulk-retries-page.tsx'), 'BulkRetriesPage'),
});
const bulkRetry = createRoute({
  getParentRoute: () => project,
  path: '/bulk-retries/$bulkId',
  component: lazyRouteComponent(() => import('./runs/bulk-retry-page.tsx'), 'BulkRetryPage'),
});
const run = createRoute({
  getParentRoute: () => project,
  path: '/flows/$flow/runs/$executionId',
  validateSearch: dropUnknown(parseRunView),
  component: lazyRouteComponent(() => import('./runs/run-page.tsx'), 'RunPage'),
});

const flow = createRoute({
  getParentRoute: () => project,
  path: '/flows/$flow',
  component: lazyRouteComponent(() => import('./flow/flow-page.tsx'), 'FlowPage'),
});
const editor = createRoute({
  getParentRoute: () => flow,
  path: '/',
  component: lazyRouteComponent(() => import('./flow/editor-page.tsx'), 'EditorPage'),
});
const versions = createRoute({
  getParentRoute: () => flow,
  path: '/versions',
  component: lazyRouteComponent(() => import('./flow/versions-page.tsx'), 'VersionsPage'),
  validateSearch: dropUnknown(readVersionsSearch),
});
const tests = createRoute({
  getParentRoute: () => flow,
  path: '/tests',
  component: lazyRouteComponent(() => import('./flow/tests-page.tsx'), 'TestsPage'),
});
const call = createRoute({
  getParentRoute: () => flow,
  path: '/call',
  component: lazyRouteComponent(() => import('./flow/call-page.tsx'), 'CallPage'),
});

const tree = root.addChildren([
  home,
  account,
  invitation,
  org.addChildren([
    orgHome,
    webhooks.addChildren([deliveries, secret]),
    delivery,
    usage,
    settings.addChildren([organization, members, projects, modelKeys, credits, auditLog]),
    project.addChildren([
      flows,
      apiKeys,
      runs,
      bulkRetries,
      bulkRetry,
      run,
      flow.addChildren([editor, versions, tests, call]),
    ]),
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: ProblemPage,
  defaultNotFoundComponent: NotFoundPage,
  defaultPendingComponent: () => <Loading />,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
