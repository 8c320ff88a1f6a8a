// Calls that go on with a run at the moment when retention deletes it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../../../db/connect.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { callTools } from '../../fakes/model-server.ts';
import { createStepClient, only, resumeOf as resumeOfStep, type StepClient } from './step-client.ts';
import { resumeOf, TWO_ASKING, toolCall, useToolCalls, weather } from './tool-calls-harness.ts';

async function deleteRun(tx: Tx, executionId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`select execution_id as id from run
    where execution_id = ${executionId} or continues = ${executionId} for update`.execute(tx);
  const ids = rows.map(({ id }) => id);
  for (const table of ['block_run', 'idempotency_key', 'reservation', 'run'])
    await sql`delete from ${sql.table(table)} where execution_id = any(${ids}::uuid[])`.execute(tx);
}

describe('a call that goes on with a run at the very moment of its deletion', () => {
  const harness = useToolCalls();
  let flow: string;
  let client: StepClient;
  before(async () => {
    flow = await harness.weir.createFlow(harness.tenant, TWO_ASKING);
    client = await createStepClient(harness.weir, harness.tenant);
  });

  const refused = async (
    path: string,
    body: { executionId: string },
    [status, code]: [number, string],
    headers = {},
  ) => {
    const { weir, tenant } = harness;
    const answer = await duringTransaction(
      weir.db,
      (tx) => deleteRun(tx, body.executionId),
      () => weir.call('POST', `${flow}/${path}`, { key: tenant.key, body, headers }),
    );
    assert.deepEqual([answer.status, answer.body.detail?.code], [status, code], JSON.stringify(answer.body));
  };
  const keyed = () => ({ 'idempotency-key': randomUUID() });

  for (const [what, headers] of Object.entries({ '': () => ({}), ' with an Idempotency-Key': keyed })) {
    it(`gets what an unknown run gets: a resume of /execute${what}`, async () => {
      const body = resumeOf(await harness.pauseWithTwo(flow));
      await refused('execute', body, [400, 'EXECUTION_ID_INVALID'], headers());
    });

    it(`gets what an unknown session gets: a call of /step${what}`, async () => {
      const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
      const body = { executionId, stepIndex: 0, message: 'again' };
      await refused('step', body, [404, 'RUN_NOT_FOUND'], headers());
    });
  }

  it('gets what an unknown session gets: a resume of /step', async () => {
    const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
    harness.models.will(callTools([toolCall('c1')]));
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' }, tools: [weather] };
    const body = resumeOfStep(call, await client.step(flow, call)) as unknown as { executionId: string };
    await refused('step', body, [404, 'RUN_NOT_FOUND']);
  });
});
