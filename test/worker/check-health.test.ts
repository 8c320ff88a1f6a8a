import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startWeir, type Weir } from '../harness.ts';

const run = promisify(execFile);

describe('worker/check-health.ts', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir();
  });
  after(() => weir.stop());

  const check = (taskQueue: string) =>
    run(process.execPath, ['worker/check-health.ts'], {
      env: {
        ...process.env,
        TEMPORAL_ADDRESS: weir.config.temporal.connectionOptions.address,
        WEIR_TASK_QUEUE: taskQueue,
      },
    });

  it('succeeds while a worker of this host asks for work', () => check(weir.config.taskQueue));

  it('fails, and says so, when none does', async () => {
    await assert.rejects(check('nobody-polls-this'), { code: 1, stderr: /^No worker of this host/ });
  });
});
