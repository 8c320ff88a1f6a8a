import assert from 'node:assert/strict';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { publishSteps } from '../../publish-steps.ts';
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
    it('goes through all pages, retries each run once, and says how many and what lists them', async () => {
      const flow = await weir.createFlow(weir.tenant, [code('a', 'throw new Error("no");')]);
      const body = { message: 'm' };
      const failing = Array.from({ length: 30 }, () =>
        weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body }),
      );
      const ids = (await Promise.all(failing)).map((answer) => answer.body.executionId);
      const found = ['--flow', flow, '--mode', 'execute'];
      const dry = await succeedJson('retry', '--failed', ...found, '--dry-run');
      assert.deepEqual([dry.matching.toSorted(), dry.done], [ids.toSorted(), []]);
      await publishSteps(weir.db, weir.tenant.projectId, flow, [passthrough('a')]);
      const retry = ['retry', '--failed', ...found, '--on-version', 'production'];
      const { code: exit, stdout, stderr } = await run(...retry);
      assert.equal(exit, 0, stderr);
      assert.match(stdout, /^30 runs retried, 0 not retried\.$/m);
      assert.match(stderr, /^25 runs retried, 0 not retried\. So far …$/m);
      const [, id = '', project = ''] =
        stdout.match(/^See weir runs bulk show (\S+) --project (\S+)$/m) ?? [];
      assert.equal(project, flow.split('/').slice(0, 2).join('/'));
      const shown = await succeedJson('bulk', 'show', id);
      assert.deepEqual([shown.planned, shown.started, shown.refused], [30, 30, 0]);
      assert.match(
        (await run('bulk', 'show', id, '--project', project)).stdout,
        /^30 of 30 runs started, 0 not retried\.$/m,
      );
      for (const path of [[], [project]])
        assert.match((await run('bulk', 'list', ...path)).stdout, new RegExp(`^${id} +30 `, 'm'));
      const { stdout: answer } = await run('bulk', 'show', id);
      const [, command = ''] = answer.match(/^See weir runs (list .* --bulk .*)$/m) ?? [];
      const started = await succeedJson(...command.split(' '), '--limit', '50');
      assert.deepEqual(started.map((run: { repeats: string }) => run.repeats).toSorted(), ids.toSorted());
      for (const { executionId } of started) await weir.finish(flow, executionId, weir.tenant.key);
      assert.match((await run('bulk', 'cancel', id)).stdout, /^Cancelled by api_key\/\S+ at /m);
      assert.match(await fail(1, run('bulk', 'show', ids[0])), /no such bulk retry/i);
      const again = await run(...retry);
      assert.match(
        again.stdout,
        /^0 runs retried, 30 not retried\.\n {2}30 × This run was run again already, as …\.$/m,
      );
      const { runs } = (await weir.call('GET', `${flow}/runs?limit=200`, { key: weir.tenant.key })).body;
      assert.equal(runs.length, 60);
    });

    it('retries one group of errors, which weir runs errors lists with its number and newest message', async () => {
      const flow = await weir.createFlow(weir.tenant, [code('a', 'throw new Error(input);')]);
      const { key } = weir.tenant;
      const ids: string[] = [];
      for (const message of ['no price for 17', 'no price for 4', 'no customer']) {
        const { body } = await weir.call('POST', `${flow}/execute`, { key, body: { message } });
        ids.push(body.executionId);
      }
      const project = flow.split('/').slice(0, 2).join('/');
      const { stdout, stderr } = await run('errors', flow);
      assert.match(stdout, /^[0-9a-f]{12} +2 .* a +CODE_ERROR +.*no price for 4/m, stderr);
      assert.match(stdout, new RegExp(`^Retry a group: weir runs retry --failed --project ${project} `, 'm'));
      const [, group] = await succeedJson('errors', flow, '--since', '2020-01-01', '--outcome', 'failed');
      assert.deepEqual([group.count, group.executionId], [1, ids[2]]);
      assert.deepEqual(await succeedJson('errors', project, '--until', '2020-01-01'), []);
      const listed = async (...options: string[]) =>
        (await succeedJson('list', flow, ...options)).map((run: { executionId: string }) => run.executionId);
      assert.deepEqual(await listed('--error-group', group.error_group), [ids[2]]);
      assert.deepEqual(await listed('--search', 'PRICE for'), [ids[1], ids[0]]);
      assert.deepEqual(await listed('--search', ids[0]?.slice(-8) as string), [ids[0]]);
      const retried = await succeedJson(
        'retry',
        '--failed',
        '--project',
        project,
        '--error-group',
        group.error_group,
      );
      assert.deepEqual(
        retried.done.map((run: { repeats: string }) => run.repeats),
        [ids[2]],
      );
      await weir.finish(flow, retried.done[0].executionId, key);
    });

    it('names what is missing or wrong for errors', async () => {
      assert.match(await fail(2, run('errors', 'acme')), /Name a project, such as acme\/main/);
      assert.match(await fail(1, run('errors', 'acme/main/none')), /not/);
      assert.match(await fail(2, run('list', '--error-group', 'x')), /must be an error_group/);
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
