// An organization with what a route is about: a run, a delivery, a test run.
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../db/connect.ts';
import { updateDraft } from '../../db/flows/flows.ts';
import { recordBlockRun } from '../../db/runs/block-runs.ts';
import { insertBulkRetry } from '../../db/runs/bulk-retries.ts';
import { finishRun } from '../../db/runs/runs.ts';
import { insertTestDelivery } from '../../db/webhooks/open-deliveries.ts';
import { code, passthrough } from '../blocks.ts';
import type { IdentityProvider } from '../fakes/identity-provider.ts';
import type { Weir } from '../harness.ts';
import { createOrganization, type Organization } from '../organization.ts';
import { P, parameters } from './organizations/management-routes.ts';

/** `values`: those of the parameters of a path. */
export type Prepared = Organization & { values: { [parameter: string]: string } };

/** Creates an organization with what the path of the route names. */
export async function prepare(weir: Weir, provider: IdentityProvider, route: string): Promise<Prepared> {
  const about = await createOrganization(weir, provider);
  const own = { assistant_id: randomUUID(), user_id: about.users.member };
  const values: Prepared['values'] = { ...parameters(about), ...own };
  if (/:org\/|:deliveryId/.test(route)) Object.assign(values, await endRun(weir, about));
  if (route.includes(':deliveryId')) values.deliveryId = await addDelivery(weir, about, values.executionId);
  if (route.includes(':test_run_id')) values.test_run_id = await startTests(weir, about);
  if (route.includes(':bulk_id')) {
    const bulk = { ...about, startedBy: about.users.owner, filter: {}, planned: 1 };
    values.bulk_id = await inTransaction(weir.db, (tx) => insertBulkRetry(tx, bulk));
  }
  if (route.endsWith('/versions')) await updateDraft(weir.db, about.flowId, { steps: [passthrough('new')] });
  if (route.includes(`${P}/by-slug`)) values.slug = await renameProject(weir, about);
  return { ...about, values };
}

/** The same route for what nobody has. */
export function unknownTo(about: Prepared): Prepared {
  const values = Object.fromEntries(Object.keys(about.values).map((name) => [name, randomUUID()]));
  const kept = { version: '1', provider: 'openai' };
  return { ...about, organizationId: randomUUID(), values: { ...values, ...kept } };
}

/** Creates a flow with a run that has ended; answers how paths name them, and a block execution of the run. */
async function endRun(weir: Weir, about: Organization) {
  const path = await weir.createFlow(about, [code('a', 'return 1;')]);
  const body = { message: '' };
  const { executionId } = (await weir.call('POST', `${path}/jobs`, { key: about.key, body })).body;
  await finishRun(weir.db, executionId, { status: 'completed', result: { ref: '$message' } });
  const block = { blockKey: 'a', stepId: 'a', name: 'a', processorType: 'code' as const, attempts: 1 };
  const values = { input: { ref: '$message' }, output: '1', startedAt: performance.now() };
  await recordBlockRun(weir.db, about, { callId: executionId, ...block, ...values });
  const [org = '', project = '', flow = ''] = path.split('/');
  return { org, project, flow, executionId, key: block.blockKey };
}

async function addDelivery(weir: Weir, about: Organization, executionId = ''): Promise<string> {
  const { organizationId, projectId } = about;
  const id = randomUUID();
  const url = 'https://receiver.test/';
  await insertTestDelivery(weir.db, { id, organizationId, event: 'flow.completed', url, body: '{}' });
  await weir.db
    .updateTable('webhook_delivery')
    .set({ execution_id: executionId, project_id: projectId })
    .where('id', '=', id)
    .execute();
  return id;
}

async function startTests(weir: Weir, { projectId, flowId, token }: Organization): Promise<string> {
  const path = `/projects/${projectId}/flows/${flowId}/test-runs`;
  return (await weir.call('POST', path, { key: token.owner, body: {} })).body.test_run_id;
}

/** Renames the slug of the project to one that no other organization has. */
async function renameProject(weir: Weir, { projectId }: Organization): Promise<string> {
  const slug = `only-${randomUUID()}`;
  await weir.db.updateTable('project').set({ slug }).where('id', '=', projectId).execute();
  return slug;
}
