import assert from 'node:assert/strict';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { llm } from '../../blocks.ts';
import { type Outcome, weirIn } from '../cli-harness.ts';

describe('weir operator runs', () => {
  let weir: JobsWeir;
  let flow: string;
  before(async () => {
    weir = await startJobsWeir();
    flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  });
  after(() => weir.stop());

  const run = (...args: string[]): Promise<Outcome> =>
    weirIn(
      {
        WEIR_STATE_DIR: '/nonexistent',
        DATABASE_URL: weir.config.databaseUrl,
        WEIR_TASK_QUEUE: weir.config.taskQueue,
        TEMPORAL_ADDRESS: weir.config.temporal.connectionOptions.address ?? '',
      },
      ['operator', 'runs', ...args, '--json'],
    );
  const change = (id: string, values: object) =>
    weir.db.updateTable('run').set(values).where('execution_id', '=', id).execute();
  const listStuck = async () => {
    const { code, stdout, stderr } = await run('list', '--stuck');
    assert.equal(code, 0, stderr);
    const rows: { executionId: string; reason: string }[] = JSON.parse(stdout);
    return Object.fromEntries(rows.map(({ executionId, reason }) => [executionId, reason]));
  };

  it('list --stuck names runs that make no progress, with the reason, and no other', async () => {
    const held = [(await weir.startHeld(flow)).executionId, (await weir.startHeld(flow)).executionId];
    const [parked = '', well = ''] = held;
    assert.deepEqual(await listStuck(), {});
    await change(parked, { parked_at: new Date() });
    assert.deepEqual(await listStuck(), { [parked]: 'parked' });
    await change(parked, { parked_at: null });
    const cancelled = await run('cancel', '--organization', flow, '--dry-run');
    assert.deepEqual(JSON.parse(cancelled.stdout).matching.toSorted(), [parked, well].toSorted());
    const { code, stdout, stderr } = await run('cancel', '--organization', flow);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout).cancelled.toSorted(), [parked, well].toSorted());
    for (const id of held) assert.equal((await weir.finish(flow, id, weir.tenant.key)).body.status, 'failed');
    assert.equal((await run('cancel')).code, 2);
  });
});
