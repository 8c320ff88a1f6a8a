import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm } from '../../blocks.ts';
import type { Tenant } from '../../harness.ts';
import { publishSteps } from '../../publish-steps.ts';
import type { ConsoleWeir } from './console-weir.ts';
import { describeWalks } from './describe-walks.ts';

const RUNS = 'orgs/demo/projects/demo/runs';

describeWalks('runs in the console', (walk, walkApart) => {
  walk(
    'opens a run from the list, goes through its blocks by keyboard and names the chosen one in the address',
    'owner',
    async ({ page, open, lookAt }) => {
      await open(RUNS);
      await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().press('Enter');
      const blocks = page.getByRole('tree', { name: 'Blocks of the run over time' });
      await blocks.getByRole('treeitem', { name: /^Put the answer together/ }).waitFor();
      await page.getByRole('heading', { name: 'Started with' }).waitFor();
      await page.getByText('Dotted: the block waited').waitFor();
      await lookAt('run');
      await blocks.getByRole('treeitem', { name: /^Run,/ }).focus();
      await page.keyboard.press('ArrowDown');
      await page.getByRole('heading', { name: 'Split the message into topics' }).waitFor();
      await page.getByRole('heading', { name: /^Output/ }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('block'), 'topics');
      await lookAt('run-block');
      await page.getByRole('radio', { name: 'On the graph' }).click();
      await page.getByText('Keep the sentences and sum them up').first().waitFor();
      assert.equal(new URL(page.url()).searchParams.get('view'), 'graph');
      await lookAt('run-graph');
    },
  );

  walk('keeps filters in the address, and clears them when nothing matches', 'member', async (tour) => {
    const { page, open } = tour;
    await open(`${RUNS}?status=failed`);
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('cell', { name: 'Completed' }).first().waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.keyboard.press('/');
    await page.keyboard.type('000000');
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
  });

  walkApart('updates the age of a new run every second', 'member', async ({ page, weir, open }) => {
    await weir.call('POST', 'demo/demo/hello/execute', { key: weir.demoKey, body: { message: 'm' } });
    await page.clock.install();
    await open(RUNS);
    await page.getByRole('cell', { name: 'Completed' }).first().waitFor();
    await page.clock.pauseAt(Date.now() + 10_000);
    const seconds = page
      .getByRole('row')
      .getByText(/^\d+ sec\. ago$/)
      .first();
    await seconds.waitFor();
    const said = await seconds.textContent();
    await page.clock.runFor(2_000);
    const same = page.getByText(said ?? '', { exact: true }).first();
    await same.waitFor({ state: 'detached' });
  });

  walk('retries the failed runs that match the filters after counting them', 'member', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createDemoFlow(weir, [code('a', 'throw new Error("no");')]);
    const request = { key: weir.demoKey, body: { message: 'm' } };
    for (let i = 0; i < 2; i++) await weir.call('POST', `demo/demo/${flow}/execute`, request);
    await open(`${RUNS}?flow=${flow}`);
    await page.getByRole('button', { name: 'Retry failed …' }).click();
    await page.getByText('These filters find 2 runs to retry.').waitFor();
    await lookAt('retry-runs');
    await page.getByRole('button', { name: 'Retry 2 runs' }).click();
    await page.getByText('2 retried, 0 skipped.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    const { runs } = (await weir.call('GET', `demo/demo/${flow}/runs?mode=jobs`, { key: weir.demoKey })).body;
    assert.equal(runs.length, 2);
    for (const { executionId } of runs) await weir.finish(`demo/demo/${flow}`, executionId, weir.demoKey);
    await page
      .getByRole('link', { name: /^run again as / })
      .nth(1)
      .waitFor();
    await lookAt('retried-runs');
    await page
      .getByRole('link', { name: /^run again as / })
      .first()
      .click();
    await page.getByText('Repeats', { exact: true }).waitFor();
    await page.goBack();
    // The newest attempts failed again.
    await page.getByRole('button', { name: 'Retry failed …' }).click();
    await page.getByText('These filters find 2 runs to retry.').waitFor();
  });

  walk(
    'runs a run again in the production version when this is another, and names both',
    'member',
    async (tour) => {
      const { page, weir, open, lookAt } = tour;
      const flow = await createDemoFlow(weir, [code('a', 'return 1;'), code('b', 'throw new Error("no");')]);
      const request = { key: weir.demoKey, body: { message: 'm' } };
      const { executionId } = (await weir.call('POST', `demo/demo/${flow}/execute`, request)).body;
      const mended = [code('a', 'return 2;'), code('b', 'return input;')];
      await publishSteps(weir.db, weir.projectId, `demo/demo/${flow}`, mended);
      await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}`);
      await page.getByRole('button', { name: 'Retry from the failed step' }).click();
      await page.getByRole('button', { name: /v2 · in production/ }).waitFor();
      await lookAt('retry-run');
      await page.getByRole('button', { name: 'Retry on v2' }).click();
      await page.getByText('It runs v2 from “a”. Version 2 differs from version 1').waitFor();
      await page.getByText('Completed').first().waitFor();
      await page.getByRole('link', { name: 'v2' }).waitFor();

      await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}`);
      await page.getByRole('button', { name: 'More for this run' }).click();
      await page.getByRole('menuitem', { name: 'Run again from the beginning' }).click();
      await page.getByRole('button', { name: /v2 · in production/ }).click();
      await page.getByRole('option', { name: 'v1 · as this run' }).click();
      await page.getByRole('button', { name: 'Run again on v1' }).click();
      await page.getByText('It runs v1.').waitFor();
      await page.getByText('Failed', { exact: true }).first().waitFor();
    },
  );

  walk('reports a bulk action after its dialog was closed', 'member', async ({ page, weir, open }) => {
    const flow = await createDemoFlow(weir, [code('a', 'throw new Error("no");')]);
    await weir.call('POST', `demo/demo/${flow}/execute`, { key: weir.demoKey, body: { message: 'm' } });
    await open(`${RUNS}?flow=${flow}`);
    await page.getByRole('button', { name: 'Retry failed …' }).click();
    const closed = Promise.withResolvers<void>();
    await page.route('**/runs/retry', async (route) => {
      if (route.request().postDataJSON().dryRun === false) await closed.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Retry 1 run' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Retry failed runs' }).waitFor({ state: 'detached' });
    closed.resolve();
    await page.getByText('“Retry failed runs” has ended: 1 retried, 0 skipped.').waitFor();
  });

  walk(
    'says in the words of the service why no further run was retried',
    'member',
    async ({ page, weir, open, allow }) => {
      allow(/403/);
      const flow = await createDemoFlow(weir, [code('a', 'throw new Error("no");')]);
      for (let i = 0; i < 2; i++)
        await weir.call('POST', `demo/demo/${flow}/execute`, { key: weir.demoKey, body: { message: 'm' } });
      const [first] = (await weir.call('GET', `demo/demo/${flow}/runs`, { key: weir.demoKey })).body.runs;
      await open(`${RUNS}?flow=${flow}`);
      await page.getByRole('button', { name: 'Retry failed …' }).click();
      const answers = [
        {
          status: 200,
          json: {
            ...{ retried: [{ executionId: first.executionId, repeats: first.executionId }], refused: [] },
            ...{ stoppedBy: 'FORBIDDEN', hasMore: true, nextCursor: 'next' },
          },
        },
        { status: 403, json: { detail: { code: 'FORBIDDEN', message: 'The organization is suspended.' } } },
      ];
      await page.getByText('These filters find 2 runs to retry.').waitFor();
      await page.route('**/runs/retry', (route) => route.fulfill(answers.shift()));
      await page.getByRole('button', { name: 'Retry 2 runs' }).click();
      await page.getByText('1 retried, 0 skipped.').waitFor();
      await page.getByRole('alert').getByText('The organization is suspended.').waitFor();
    },
  );

  walk('cancels the runs that match the filters after counting them', 'member', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createDemoFlow(weir, [code('a', 'return 1'), code('b', 'return 2')]);
    // A session waits for its next step.
    for (let i = 0; i < 2; i++)
      await fetch(`${weir.url}/api/v1/seq/demo/demo/${flow}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${weir.demoKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ executionId: null, stepIndex: 0, message: 'm' }),
      }).then((answer) => answer.text());
    await open(`${RUNS}?flow=${flow}&status=in_progress`);
    await page.getByRole('button', { name: 'Cancel all matching …' }).click();
    await page.getByText('These filters find 2 runs to cancel.').waitFor();
    await lookAt('cancel-runs');
    await page.getByRole('button', { name: 'Keep them' }).click();
    await page.getByRole('button', { name: 'Cancel all matching …' }).click();
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByText('2 runs are being cancelled.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
    await open(`${RUNS}?flow=${flow}&outcome=cancelled`);
    await page.getByRole('cell', { name: 'Cancelled' }).nth(1).waitFor();
    await page.getByRole('button', { name: /Only runs that have not ended can be cancelled/ }).click();
    await page.getByRole('dialog').getByText('filter by Running').waitFor();
  });

  walk(
    'keeps what is typed as results of tool calls when the run goes on without it',
    'owner',
    async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createDemoFlow(weir, [
        llm('ask', 'Use lookup', 'demo/chat', { processor_config: { tools_enabled: true } }),
      ]);
      const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
      const start = { key: weir.demoKey, body: { message: 'm', tools } };
      const { body: paused } = await weir.call('POST', `demo/demo/${flow}/execute`, start);
      await open(`orgs/demo/projects/demo/flows/${flow}/runs/${paused.executionId}`);
      const result = page.getByRole('textbox', { name: 'Result' });
      await result.fill('from here');
      await page.getByRole('treeitem', { name: /^ask/ }).click();
      await page.getByRole('heading', { name: 'ask' }).waitFor();
      await page.getByRole('treeitem', { name: /^Run,/ }).click();
      assert.equal(await result.inputValue(), 'from here');

      const { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState } = paused;
      const answer = { role: 'tool', tool_call_id: paused.toolCalls[0].id, content: 'from elsewhere' };
      const resumed = await weir.call('POST', `demo/demo/${flow}/execute`, {
        key: weir.demoKey,
        body: {
          ...{ executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState, tools },
          toolCallMessages: [...paused.toolCallMessages, answer],
        },
      });
      assert.equal(resumed.body.status, 'completed');
      const note = page.getByRole('alert');
      await note.getByText('The run no longer waits for what you typed here').waitFor();
      await note.getByText('from here').waitFor();
      await page.getByText('Demo answer from tool results: from elsewhere').waitFor();
    },
  );

  walk('shows a block that has just ended until its result is loaded', 'member', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createDemoFlow(weir, [code('a', 'return 1'), code('b', 'return 1')]);
    const start = { key: weir.demoKey, body: { message: 'm' } };
    const { executionId } = (await weir.call('POST', `demo/demo/${flow}/execute`, start)).body;
    let key = 'a';
    await page.route(`**/jobs/${executionId}?*`, async (route) => {
      const run = await (await route.fetch()).json();
      const block = { step_id: key, key, name: key, processor_type: 'code', attempts: 1 };
      const blocksUnderWay = [{ ...block, status: 'running', startedAt: run.startedAt }];
      await route.fulfill({ json: { ...run, status: 'started', finishedAt: null, blocksUnderWay } });
    });
    const ended = Promise.withResolvers<void>();
    await page.route('**/blocks?*', async (route) => {
      if (key === 'a') return await route.fulfill({ json: { blocks: [], nextCursor: null } });
      await ended.promise;
      await route.continue();
    });
    await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}?block=a`);
    await page.getByText('It is running').waitFor();
    key = 'b';
    await page.getByRole('treeitem', { name: /^b/ }).waitFor();
    assert.equal(await page.getByText('It is running').count(), 1);
    ended.resolve();
    await page.getByRole('heading', { name: /^Output/ }).waitFor();
  });

  walkApart('requests refused events of a run once', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/403/);
    const flow = await createDemoFlow(weir, [code('a', 'return 1')]);
    const start = { key: weir.demoKey, body: { message: 'm' } };
    const { executionId } = (await weir.call('POST', `demo/demo/${flow}/execute`, start)).body;
    const run = new RegExp(`/jobs/${executionId}\\?`);
    await page.route(run, async (route) => {
      const ended = await (await route.fetch()).json();
      await route.fulfill({ json: { ...ended, status: 'started', finishedAt: null, blocksUnderWay: [] } });
    });
    let refused = 0;
    await page.route('**/events', (route) => {
      refused += 1;
      return route.fulfill({ status: 403, json: { detail: { code: 'FORBIDDEN', message: 'no' } } });
    });
    await page.clock.install();
    await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}`);
    // The page asks for the run every four seconds.
    for (let looks = 0; looks < 4; looks++)
      await Promise.all([page.waitForResponse(run), page.clock.fastForward(4_000)]);
    assert.equal(refused, 1);
  });
});

/** Publishes a flow in the project demo/demo; returns its slug. */
async function createDemoFlow(weir: ConsoleWeir, steps: Step[]): Promise<string> {
  const path = await weir.createFlow({ projectId: weir.projectId, organization: 'demo' } as Tenant, steps);
  return path.split('/')[2] ?? '';
}
