import { Link, type LinkProps } from '@tanstack/react-router';
import type { Schemas } from '../api/client.ts';
import { shortId } from '../ui/format.ts';
import { Clipped } from '../ui/page.tsx';

type Entry = Schemas['AuditLog']['entries'][number];

/** The resource of an audit entry: its name, or the end of its id, as a link to its page. */
export function AuditTarget({ org, entry }: { org: string; entry: Entry }) {
  const { resourceId, resourceName, details } = entry;
  const [kind = ''] = entry.action.split('.');
  const { email, name } = details as { email?: string; name?: string };
  const text = resourceName ?? email ?? name ?? WITHOUT_NAME[kind] ?? wordsFor(kind, entry);
  const page = pageOf(org, kind, entry);
  const shown = <Clipped text={text} />;
  return <span title={resourceId}>{page ? <Link {...(page as LinkProps)}>{shown}</Link> : shown}</span>;
}

/** Returns the words for a resource without a name: `test run of llm-chain`, `run 6f3a90bc`. */
function wordsFor(kind: string, { resourceId, flow }: Entry): string {
  if (kind === 'test_run' && flow !== null) return `test run of ${flow}`;
  return KINDS[kind] === undefined ? resourceId : `${KINDS[kind]} ${shortId(resourceId)}`;
}

/** The words for what an organization has once. */
const WITHOUT_NAME: Record<string, string> = { webhook_secret: 'Webhook secret', credits: 'Credits' };

/** The words for what has no name. */
const KINDS: Record<string, string> = {
  run: 'run',
  runs: 'runs of project',
  flow: 'flow',
  project: 'project',
  test_case: 'test case',
  test_run: 'test run',
  webhook_delivery: 'delivery',
  invitation: 'invitation',
  organization: 'organization',
};

const SETTINGS: Record<string, LinkProps['to']> = {
  organization: '/orgs/$org/settings',
  credits: '/orgs/$org/settings/credits',
  member: '/orgs/$org/settings/members',
  invitation: '/orgs/$org/settings/members',
  model_key: '/orgs/$org/settings/model-keys',
  webhook_secret: '/orgs/$org/webhooks/secret',
};

/** Returns the page of the resource; undefined when it has none any more. */
function pageOf(org: string, kind: string, { action, project, flow, resourceId }: Entry) {
  if (SETTINGS[kind]) return { to: SETTINGS[kind], params: { org } };
  if (kind === 'webhook_delivery' && action !== 'webhook_delivery.recover')
    return { to: '/orgs/$org/webhooks/$deliveryId', params: { org, deliveryId: resourceId } };
  if (project === null) return undefined;
  if (kind === 'project') return { to: '/orgs/$org/projects/$project', params: { org, project } };
  if (kind === 'api_key') return { to: '/orgs/$org/projects/$project/keys', params: { org, project } };
  if (kind === 'runs') return { to: '/orgs/$org/projects/$project/runs', params: { org, project } };
  if (flow === null) return undefined;
  const params = { org, project, flow };
  const ofFlow = '/orgs/$org/projects/$project/flows/$flow';
  if (kind === 'run')
    return { to: `${ofFlow}/runs/$executionId`, params: { ...params, executionId: resourceId } };
  if (kind.startsWith('test_')) return { to: `${ofFlow}/tests`, params };
  return { to: action === 'flow.publish' ? `${ofFlow}/versions` : ofFlow, params };
}
