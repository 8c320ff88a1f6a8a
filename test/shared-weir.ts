// The Weir that all test files of a mocha process share, with one fake model server and one identity provider. A file that
// needs a configuration of its own, no worker, or a database that nobody else uses starts another with `startWeir`.
import { sql } from 'kysely';
import { type IdentityProvider, startIdentityProvider } from './fakes/identity-provider.ts';
import { type FakeModelServer, startFakeModelServer } from './fakes/model-server.ts';
import { startWeir, type Weir } from './harness.ts';
import { atEndOfRun } from './hooks.ts';

export type SharedWeir = Weir & { models: FakeModelServer; provider: IdentityProvider };

let started: Promise<SharedWeir> | undefined;

/** Gets the shared Weir. Its model server has no behaviours and no calls of earlier files. */
export function getSharedWeir(): Promise<SharedWeir> {
  started ??= start();
  return started;
}

async function start(): Promise<SharedWeir> {
  const [models, provider] = await Promise.all([startFakeModelServer(), startIdentityProvider()]);
  const { baseUrl } = models.provider;
  const env = { ...provider.env, DEMO_BASE_URL: baseUrl, OPENAI_BASE_URL: baseUrl };
  const weir = await startWeir({ env });
  atEndOfRun(async () => {
    await weir.stop();
    await Promise.all([models.close(), provider.close()]);
  });
  return {
    ...weir,
    models,
    provider,
    startWorker: refuse,
    stopWorker: refuse,
    /** Ends what a file has left unfinished. The next file uses the same Weir. */
    async stop() {
      const { rows } = await sql<{
        id: string;
      }>`select execution_id as id from run where status = 'started'`.execute(weir.db);
      for (const { id } of rows)
        await weir.client.workflow
          .getHandle(id)
          .terminate('the test has ended')
          .catch(() => undefined);
      models.reset();
    },
  };
}

async function refuse(): Promise<never> {
  throw new Error('Other files share this worker: start a Weir of your own with startWeir.');
}
