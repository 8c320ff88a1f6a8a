import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm } from '../../blocks.ts';
import type { Tenant } from '../../harness.ts';
import { publishSteps } from '../../publish-steps.ts';
import type { ConsoleWeir } from './console-weir.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';
import { isInView } from './look-at.ts';

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

  walk('shows what code wrote with console, and the failed attempts at a block', 'member', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const source = `console.log('got', { input, list: [1, 2, 3] });
      console.warn('slow');
      console.error(new Error('not found'));
      return input;`;
    const flow = await createDemoFlow(weir, [code('a', source)]);
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { executionId } = (await weir.call('POST', `demo/demo/${flow}/execute`, request)).body;
    await page.route(/\/blocks\/a\?call=/, async (route) => {
      const block = await (await route.fetch()).json();
      const { startedAt } = block;
      const failed = { startedAt, endedAt: startedAt, code: 'MODEL_UNAVAILABLE' };
      const failedAttempts = [1, 2].map((number) => ({
        ...failed,
        number,
        message: `The provider answered 429: too many requests. ${'It gave no reason. '.repeat(number * 4)}`,
      }));
      await route.fulfill({ json: { ...block, attempts: 3, failedAttempts } });
    });
    await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}?block=a`);
    await page.getByRole('region', { name: 'Console' }).getByText('got {"input": "m"').waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row', { name: /^2 .*MODEL_UNAVAILABLE/ }).waitFor();
    await attempts.getByRole('row', { name: /^3 .*Completed/ }).waitFor();
    await lookAt('run-attempts');
  });

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

  walk('goes from run to run of the list that the reader came from, by keyboard', 'owner', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createDemoFlow(weir, [code('a', 'if (input === "no") throw new Error(input);')]);
    const started: string[] = [];
    for (const message of ['no', 'yes', 'no', 'no'])
      started.push(
        (await weir.call('POST', `demo/demo/${flow}/execute`, { key: weir.demoKey, body: { message } })).body
          .executionId,
      );
    const [oldest = '', , middle = '', newest = ''] = started;
    await open(`${RUNS}?flow=${flow}&outcome=failed`);
    await page.locator(`[title="${newest}"]`).click();
    const newer = page.getByRole('button', { name: 'Newer run in the list' });
    const older = page.getByRole('button', { name: 'Older run in the list' });
    await older.and(page.locator(':enabled')).focus();
    for (const id of [middle, oldest]) {
      await page.keyboard.press('Enter');
      await page.waitForURL(RegExp(`/runs/${id}`));
      await page.getByText(id, { exact: true }).waitFor();
      await newer.and(page.locator(':enabled')).waitFor();
      await older.and(page.locator(':focus')).waitFor();
    }
    await page.locator('[aria-label="Older run in the list"][aria-disabled="true"]').waitFor();
    await lookAt('run-last-of-list');
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Runs' }).click();
    await page.waitForURL(/outcome=failed/);

    // Without a list, the runs of the flow.
    await open(`orgs/demo/projects/demo/flows/${flow}/runs/${oldest}`);
    await page.getByRole('button', { name: 'Newer run of the flow' }).click();
    await page.waitForURL(RegExp(`/runs/${started[1]}`));
  });

  walk(
    'shows a text in Markdown, loads nothing that it names and keeps HTML as text',
    'member',
    async (tour) => {
      const { page, weir, open, lookAt } = tour;
      const text = [
        '# Report',
        'Some **bold** text, [a page](https://elsewhere.example/) and ![a picture](https://elsewhere.example/p.png).',
        '<img src="https://elsewhere.example/i.png" onerror="alert(1)"> [bad](javascript:alert(1))',
        '| a | b |\n|---|---|\n| 1 | 2 |',
        '- one\n- two\n  1. nested',
        '```\ncode\n```\n\n> quoted',
      ].join('\n\n');
      const flow = await createDemoFlow(weir, [code('a', 'return { note: input, text: "plain" };')]);
      const body = { message: text };
      const { executionId } = (
        await weir.call('POST', `demo/demo/${flow}/execute`, { key: weir.demoKey, body })
      ).body;
      await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}`);
      await page.getByRole('heading', { name: 'Report' }).waitFor();
      await page.getByRole('strong').getByText('bold').waitFor();
      const link = page.getByRole('link', { name: 'a page' });
      assert.equal(await link.getAttribute('rel'), 'noopener noreferrer nofollow');
      await page.getByRole('link', { name: 'Image: a picture' }).waitFor();
      await page.getByText('<img src="https://elsewhere.example/i.png"').last().waitFor();
      assert.equal(await page.getByRole('link', { name: 'bad', exact: true }).count(), 0);
      await page.getByRole('columnheader', { name: 'b', exact: true }).waitFor();
      await lookAt('run-markdown');
      await page.getByRole('button', { name: 'Show as text' }).click();
      await page.getByRole('heading', { name: 'Report' }).waitFor({ state: 'detached' });
      // A text inside an object is rendered on request.
      await page.getByRole('button', { name: 'Show as Markdown' }).first().click();
      await page.getByRole('heading', { name: 'Report' }).waitFor();
    },
  );

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
    await page.waitForURL(/bulk-retries/);
    const [bulkId = ''] = page.url().split('/').slice(-1);
    await page.getByText('2 of 2 runs have ended').waitFor();
    await page.getByText('Ended', { exact: true }).waitFor();
    await page
      .getByRole('link', { name: /^retry of / })
      .nth(1)
      .waitFor();
    await lookAt('bulk-retry');
    await page.getByRole('link', { name: 'All bulk retries' }).click();
    await page.getByText(`flow ${flow}`).waitFor();
    await lookAt('bulk-retries');
    await open(`${RUNS}?flow=${flow}`);
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
    await page.getByRole('link', { name: bulkId.slice(-8) }).click();
    await page.getByText('2 of 2 runs have ended').waitFor();
    await page.goBack();
    await page.getByText('Repeats', { exact: true }).waitFor();
    await page.goBack();
    // The newest attempts failed again.
    await page.getByRole('button', { name: 'Retry failed …' }).click();
    await page.getByText('These filters find 2 runs to retry.').waitFor();
    await open(`${RUNS}?bulk_id=${bulkId}`);
    await page
      .getByRole('link', { name: /^retry of / })
      .nth(1)
      .waitFor();
    await page.getByRole('button', { name: 'One bulk retry only' }).click();
    await page.waitForURL((url) => !url.search.includes('bulk_id'));
  });

  walk(
    'runs a run again in the production version when this is another, and names both',
    'member',
    async (tour) => {
      const { page, weir, open, lookAt } = tour;
      const flow = await createDemoFlow(weir, [code('a', 'return 1;'), code('b', 'throw new Error("no");')]);
      const request = { key: weir.demoKey, body: { message: 'm' } };
      const { executionId } = (await weir.call('POST', `demo/demo/${flow}/execute`, request)).body;
      await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}`);
      const retry = page.getByRole('button', { name: 'Retry from the failed step' });
      await retry.and(page.locator(':enabled')).waitFor();
      // Put into production while the page is open.
      const mended = [code('a', 'return 2;'), code('b', 'return input;')];
      await publishSteps(weir.db, weir.projectId, `demo/demo/${flow}`, mended);
      await retry.click();
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

  walk(
    'retries runs on their own version when no version of their flow is in production',
    'member',
    async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createFlow(weir, 'unchosen', [code('a', 'throw new Error("no");')]);
      await flow.publish();
      const request = { key: weir.demoKey, body: { message: 'm' } };
      await weir.call('POST', 'demo/demo/unchosen/v1/execute', request);
      await open(`${RUNS}?flow=unchosen&mode=execute`);
      await page.getByRole('button', { name: 'Retry failed …' }).click();
      await page.getByRole('button', { name: 'Retry 1 run' }).click();
      await page.waitForURL(/bulk-retries/);
      await page.getByRole('link', { name: /^retry of / }).waitFor();
      await page.getByText('of each failed run').waitFor();
      await page.getByText('flow unchosen, mode Execute').waitFor();
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
    'says in the words of the service why no further run was retried, continues on request, and cancels the rest',
    'member',
    async ({ page, weir, open, allow, lookAt }) => {
      allow(/403/);
      const flow = await createDemoFlow(weir, [code('a', 'throw new Error("no");')]);
      for (let i = 0; i < 3; i++)
        await weir.call('POST', `demo/demo/${flow}/execute`, { key: weir.demoKey, body: { message: 'm' } });
      await open(`${RUNS}?flow=${flow}`);
      await page.getByRole('button', { name: 'Retry failed …' }).click();
      await page.getByText('These filters find 3 runs to retry.').waitFor();
      const retries = '**/runs/retry';
      const refused = { detail: { code: 'FORBIDDEN', message: 'The organization is suspended.' } };
      await page.route(retries, (route) => {
        const body = route.request().postDataJSON();
        if (body.cursor) return route.fulfill({ status: 403, json: refused });
        return route.continue({ postData: JSON.stringify({ ...body, limit: 1 }) });
      });
      await page.getByRole('button', { name: 'Retry 3 runs' }).click();
      await page.getByText('The organization is suspended.').waitFor();
      await page.getByText('Not all failed runs that match were started.').waitFor();
      await page.unroute(retries);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('3 of 3 runs have ended').waitFor();

      // As where not even the first run was accepted.
      await page.route('**/api/**/bulk-retries/*', async (route) => {
        const bulk = await (await route.fetch()).json();
        await route.fulfill({ json: { ...bulk, stoppedBy: 'INSUFFICIENT_CREDITS', nextCursor: null } });
      });
      await page.reload();
      await page.getByText('It stopped with INSUFFICIENT_CREDITS').waitFor();
      await page.getByRole('button', { name: 'Continue' }).waitFor();
      await page.unroute('**/api/**/bulk-retries/*');

      await page.route('**/api/**/bulk-retries/*', async (route) => {
        const bulk = await (await route.fetch()).json();
        const outcomes = { ...bulk.outcomes, failed: 1 };
        await route.fulfill({ json: { ...bulk, running: 2, outcomes } });
      });
      await page.reload();
      await page.getByText('1 of 3 runs have ended').waitFor();
      await lookAt('bulk-retry-running');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.unroute('**/api/**/bulk-retries/*');
      await page.getByRole('button', { name: 'Cancel the bulk retry' }).click();
      await page.getByText('Cancelled by').waitFor();
      await lookAt('bulk-retry-cancelled');
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
    await page.getByRole('button', { name: 'Cancel all matching …' }).click();
    await page.getByRole('dialog').getByText('filter by Running').waitFor();
  });

  walk(
    'keeps what is typed as results of tool calls when the run goes on without it',
    'owner',
    async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createDemoFlow(weir, [
        llm('ask', 'Use lookup', 'demo/chat', {
          name: 'Ask the shelf',
          processor_config: { tools_enabled: true },
        }),
      ]);
      const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
      const start = { key: weir.demoKey, body: { message: 'm', tools } };
      const { body: paused } = await weir.call('POST', `demo/demo/${flow}/execute`, start);
      await open(`orgs/demo/projects/demo/flows/${flow}/runs/${paused.executionId}`);
      const result = page.getByRole('textbox', { name: 'Result' });
      await result.fill('from here');
      await page.getByText('Ask the shelf asks for a result').waitFor();
      await page.getByRole('treeitem', { name: /^Ask the shelf/ }).click();
      await page.getByRole('heading', { name: 'Ask the shelf' }).waitFor();
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

  walk('brings the block that is opened into view in a narrow window', 'member', async (tour) => {
    const { page, weir, open } = tour;
    const blocks = ['a', 'b', 'c'].map((id) => code(id, 'if (input === 0) throw new Error("no"); return 0;'));
    const flow = await createDemoFlow(weir, blocks);
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { executionId } = (await weir.call('POST', `demo/demo/${flow}/execute`, request)).body;
    await page.setViewportSize({ width: 390, height: 844 });
    await open(`orgs/demo/projects/demo/flows/${flow}/runs/${executionId}`);
    await page.getByRole('button', { name: 'Show the block that failed' }).click();
    for (const block of ['b', 'a']) {
      const title = page.getByRole('heading', { name: block, exact: true });
      await title.waitFor();
      await isInView(title);
      if (block === 'b') await page.getByRole('treeitem', { name: /^a,/ }).click();
    }
  });

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
