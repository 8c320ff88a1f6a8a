import assert from 'node:assert/strict';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { llm } from '../../blocks.ts';
import { fail } from '../cli-harness.ts';
import { operatorRuns } from './list-stuck.ts';

describe('weir operator runs cancel', () => {
  let weir: JobsWeir;
  let flow: string;
  before(async () => {
    weir = await startJobsWeir();
    flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  });
  after(() => weir.stop());

  const cancel = (...args: string[]) => operatorRuns(weir, 'cancel', ...args);

  it('cancels the runs that the options find, and says first which', async () => {
    const ids = [(await weir.startHeld(flow)).executionId, (await weir.startHeld(flow)).executionId];
    const dry = await cancel('--organization', flow, '--dry-run', '--json');
    assert.deepEqual(JSON.parse(dry.stdout).matching.toSorted(), ids.toSorted());
    const { code, stdout, stderr } = await cancel('--flow', flow, '--json');
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout).cancelled.toSorted(), ids.toSorted());
    for (const id of ids) assert.equal((await weir.finish(flow, id, weir.tenant.key)).body.status, 'failed');
  });

  it('cancels more than ten runs only with --yes', async () => {
    const held: { executionId: string }[] = [];
    while (held.length < 11) held.push(await weir.startHeld(flow));
    assert.match(
      await fail(2, cancel('--flow', flow)),
      /^Nothing was done: these are 11 runs\. Add --yes to cancel more than 10/,
    );
    for (const { executionId } of held)
      assert.equal((await weir.read(flow, executionId)).body.status, 'started');
    const { code, stdout, stderr } = await cancel('--flow', flow, '--yes');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^11 runs cancelled\. Those under way/);
    for (const { executionId } of held) await weir.finish(flow, executionId, weir.tenant.key);
  });

  it('says what is missing or wrong in its options', async () => {
    const id = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';
    assert.match(await fail(2, cancel()), /Give ids of runs, --organization or --flow with a path, or --all/);
    assert.match(await fail(2, cancel('--all', '--flow', flow)), /Give ids of runs, --organization/);
    assert.match(await fail(2, cancel(id, '--status', 'started')), /not both/);
    assert.match(await fail(2, cancel(id, '--dry-run')), /--dry-run is for options that find runs/);
  });
});
