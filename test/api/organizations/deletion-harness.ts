// A Weir in which a project or an organization is deleted while something is under way in it.
import type { Tx } from '../../../db/connect.ts';
import { deleteOrganization, lockOrganization } from '../../../db/tenants/organizations.ts';
import { deleteProjects } from '../../../db/tenants/projects.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { type FakeModelServer, hang, startFakeModelServer } from '../../fakes/model-server.ts';
import { type Answer, startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { waitUntil } from '../../wait-until.ts';

export const NOTHING = { runs: 0, testRuns: 0, deliveries: 0 };
/** The paths of what can be deleted. */
export const PATHS = {
  'a project': ({ projectId }: Organization) => `/projects/${projectId}`,
  'an organization': ({ organizationId }: Organization) => `/organizations/${organizationId}`,
};

export async function deleteProject(tx: Tx, { organizationId, projectId }: Organization): Promise<void> {
  await lockOrganization(tx, organizationId);
  await deleteProjects(tx, organizationId, projectId);
}

/** Deletes an organization, with its projects. */
export async function deleteAll(tx: Tx, { organizationId }: Organization): Promise<void> {
  await deleteOrganization(tx, organizationId);
  await deleteProjects(tx, organizationId);
}

export type DeletionWeir = Awaited<ReturnType<typeof startDeletionWeir>>;

export async function startDeletionWeir() {
  const provider: IdentityProvider = await startIdentityProvider();
  const models: FakeModelServer = await startFakeModelServer();
  const { baseUrl, apiKey } = models.provider;
  const weir: Weir = await startWeir({
    env: {
      ...provider.env,
      DEMO_BASE_URL: baseUrl,
      OPENAI_BASE_URL: baseUrl,
      OPENAI_API_KEY: apiKey,
      WEIR_TEST_DIAL_MAP: JSON.stringify({ 'hook.test': '127.0.0.1:1' }),
    },
  });
  const rowOf = (executionId: string) =>
    weir.db
      .selectFrom('run')
      .select(['status', 'error', 'cancel_requested_at'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
  const post = ({ key }: Organization, path: string, body: object, headers: Record<string, string> = {}) =>
    weir.call('POST', path, { key, body, headers });
  return {
    weir,
    models,
    rowOf,
    post,
    /** A new organization, with models that have not been asked for anything. */
    createOrganization() {
      models.forget();
      return createOrganization(weir, provider);
    },
    remove({ token }: Organization, path: string): Promise<Answer> {
      return weir.call('DELETE', path, { key: token.owner });
    },
    whenEnded(executionId: string) {
      return waitUntil(async () => {
        const row = await rowOf(executionId);
        return row.status !== 'started' && row;
      });
    },
    /** Starts a job whose model call is not answered: `response` is where the answer would go. */
    async startHeld(
      about: Organization,
      flow: string,
      more: object = {},
      headers: Record<string, string> = {},
    ) {
      models.will(hang);
      const asked = models.nextCall();
      const { body } = await post(about, `${flow}/jobs`, { message: 'm', ...more }, headers);
      return { executionId: body.executionId as string, response: await asked };
    },
    async stop() {
      await weir.stop();
      await models.close();
      await provider.close();
    },
  };
}
