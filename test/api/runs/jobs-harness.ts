// A Weir with one tenant, whose jobs a test holds at a model call, reads and cancels.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type FakeModelServer, hang, startFakeModelServer } from '../../fakes/model-server.ts';
import { type Answer, startWeir, type Tenant, type Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

export type JobsWeir = Weir & {
  /** Answers for `demo/…`. */
  models: FakeModelServer;
  tenant: Tenant;
  /** Starts a job; answers its executionId. */
  start(flow: string): Promise<string>;
  /** Starts a run and resolves when it has asked a model; `response` is the model's answer, not sent yet. */
  startHeld(flow: string): Promise<{ executionId: string; response: ServerResponse }>;
  read(flow: string, executionId: string): Promise<Answer>;
  cancel(flow: string, executionId: string): Promise<Answer>;
  /** How often the run was charged. */
  charges(executionId: string): Promise<number>;
};

/** `own`: for tests that look at all runs of a Weir, or stop its worker. */
export async function startJobsWeir({ own = false } = {}): Promise<JobsWeir> {
  const { models, ...weir } = own ? await startOwn() : await getSharedWeir();
  const tenant = await weir.createTenant();
  const { key } = tenant;
  const start = async (flow: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key, body: { message: 'm' } })).body.executionId;
  return {
    ...weir,
    models,
    tenant,
    start,
    async startHeld(flow) {
      models.will(hang);
      const asked = models.nextCall();
      return { executionId: await start(flow), response: await asked };
    },
    read: (flow, executionId) => weir.call('GET', `${flow}/jobs/${executionId}`, { key }),
    cancel: (flow, executionId) => weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key }),
    async charges(executionId) {
      const rows = await weir.db
        .selectFrom('ledger_entry')
        .select('id')
        .where('execution_id', '=', executionId)
        .execute();
      return rows.length;
    },
  };
}

async function startOwn(): Promise<Weir & { models: FakeModelServer }> {
  const models = await startFakeModelServer();
  const weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
  return { ...weir, models, stop: () => weir.stop().finally(() => models.close()) };
}

/** Asserts that a run's body, as `GET …/jobs/{executionId}` has it, says that its caller has cancelled it. */
export function assertCancelled(body: { status: string; failureReason: string; errorMessage: string }): void {
  assert.deepEqual(
    [body.status, body.failureReason, body.errorMessage],
    ['failed', 'error', 'The run was cancelled.'],
  );
}
