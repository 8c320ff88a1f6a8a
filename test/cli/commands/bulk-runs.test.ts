import assert from 'node:assert/strict';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { code, llm } from '../../blocks.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir runs', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  const env = () => ({ WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_API_KEY: weir.tenant.key });
  const run = (...args: string[]) => weirIn(env(), ['runs', ...args]);
  async function succeedJson(...args: string[]) {
    const { code, stdout, stderr } = await run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  describe('retry --failed', () => {
    it('goes through all pages, retries each run once, and says how many', async () => {
      const flow = await weir.createFlow(weir.tenant, [code('a', 'throw new Error("no");')]);
      const body = { message: 'm' };
      const failing = Array.from({ length: 30 }, () =>
        weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body }),
      );
      const ids = (await Promise.all(failing)).map((answer) => answer.body.executionId);
      const found = ['--flow', flow, '--mode', 'execute'];
      const dry = await succeedJson('retry', '--failed', ...found, '--dry-run');
      assert.deepEqual([dry.matching.toSorted(), dry.done], [ids.toSorted(), []]);
      const { code: exit, stdout, stderr } = await run('retry', '--failed', ...found);
      assert.equal(exit, 0, stderr);
      assert.match(stdout, /^30 runs retried, 0 passed over\.$/m);
      assert.match(stderr, /^25 runs retried, 0 passed over\. So far …$/m);
      const again = await run('retry', '--failed', ...found);
      assert.match(
        again.stdout,
        /^0 runs retried, 30 passed over\.\n {2}30 × This run was run again already, as …\.$/m,
      );
      const { runs } = (await weir.call('GET', `${flow}/runs?limit=200`, { key: weir.tenant.key })).body;
      assert.equal(runs.length, 60);
      for (const { executionId } of runs) await weir.finish(flow, executionId, weir.tenant.key);
    });

    it('says what is missing or wrong in its options', async () => {
      assert.match(await fail(2, run('retry')), /Give ids of runs, or --failed/);
      assert.match(await fail(2, run('retry', '--flow', 'hello')), /Add --failed/);
      assert.match(await fail(2, run('retry', '--failed', '--error-code', 'NO')), /not the code of an error/);
      const id = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';
      assert.match(await fail(2, run('retry', id, '--failed')), /not both/);
      assert.match(
        await fail(2, run('cancel', '--flow', 'acme/main/hello', '--project', 'acme/other')),
        /--project acme\/other and --flow acme\/main\/hello name different projects/,
      );
      assert.match(await fail(2, run('cancel')), /Give ids of runs, or --all/);
      assert.match(await fail(2, run('cancel', '--dry-run')), /Give ids of runs, or --all/);
    });
  });

  describe('cancel', () => {
    it('cancels the runs that the options find, and says first which', async () => {
      const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
      const ids = [
        (await weir.startHeld(flow)).executionId,
        (await weir.startHeld(flow)).executionId,
      ].reverse();
      const found = ['--flow', flow.split('/')[2] ?? '', '--status', 'started'];
      const dry = await run('cancel', ...found, '--dry-run');
      assert.equal(dry.stdout, `${ids.join('\n')}\n2 runs would be cancelled.\n`);
      const none = await run('cancel', ...found, '--mode', 'execute', '--dry-run');
      assert.equal(none.stdout, '0 runs would be cancelled.\n');
      const { done } = await succeedJson('cancel', ...found);
      assert.deepEqual(
        done,
        ids.map((executionId) => ({ executionId })),
      );
      for (const id of ids)
        assert.equal((await weir.finish(flow, id, weir.tenant.key)).body.status, 'failed');
    });

    it('takes several ids, and goes on past one that does not exist', async () => {
      const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
      const { executionId } = await weir.startHeld(flow);
      const { code: exit, stdout } = await run('cancel', '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11', executionId);
      assert.equal(exit, 1);
      assert.match(stdout, /Not cancelled: The run 3f1c1c9e\S+ does not exist/);
      assert.match(stdout, new RegExp(`${executionId} {2}The run is being cancelled`));
      await weir.finish(flow, executionId, weir.tenant.key);
    });
  });
});
