import assert from 'node:assert/strict';
import { requestCancel } from '../../db/runs/run-cancellation.ts';
import { assertCancelled, type JobsWeir, startJobsWeir } from '../api/runs/jobs-harness.ts';
import { llm } from '../blocks.ts';

describe('a run that is marked as cancelled', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  it('ends although the reconciler does not look at it yet', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    const { executionId } = await weir.startHeld(flow);
    // The reconciler leaves runs alone that are younger than half a minute.
    const later = new Date(Date.now() + 3_600_000);
    await weir.db
      .updateTable('run')
      .set({ started_at: later })
      .where('execution_id', '=', executionId)
      .execute();
    await requestCancel(weir.db, executionId);
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    assertCancelled(body);
    assert.doesNotMatch(body.errorMessage, /caller/);
  });
});
