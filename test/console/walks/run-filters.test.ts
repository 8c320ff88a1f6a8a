import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
import { code } from '../../blocks.ts';
import type { Tenant } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { describeWalks } from './describe-walks.ts';

const RUNS = 'orgs/demo/projects/demo/runs';

describeWalks('filters of runs in the console', (walk, walkApart) => {
  walk('show no result until it is loaded', 'member', async ({ page, open }) => {
    await open(`${RUNS}?status=failed`);
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
    const asked = Promise.withResolvers<void>();
    await page.route('**/runs?**', async (route) => {
      await asked.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByText('Loading runs …').waitFor();
    assert.equal(await page.getByRole('heading', { name: /^No/ }).count(), 0);
    asked.resolve();
    const table = page.getByRole('table', { name: 'Runs' });
    await table.getByRole('cell', { name: 'Completed' }).first().waitFor();

    const askedAgain = Promise.withResolvers<void>();
    await page.unrouteAll({ behavior: 'wait' });
    await page.route('**/runs?**', async (route) => {
      await askedAgain.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: /Status/ }).click();
    await page.getByRole('option', { name: 'Completed' }).click();
    await page.locator('[aria-busy=true]').getByRole('table', { name: 'Runs' }).waitFor();
    await page.getByText('Loading runs …').waitFor();
    askedAgain.resolve();
    await page.locator('[aria-busy=false]').getByRole('table', { name: 'Runs' }).waitFor();
  });

  walkApart('restart a range when it is chosen again, and show its start', 'member', async (tour) => {
    const { page, open } = tour;
    await page.clock.install();
    const since = (request: Request) => Date.parse(new URL(request.url()).searchParams.get('since') ?? '');
    const [listed] = await Promise.all([
      page.waitForRequest((request) => since(request) > 0),
      open(`${RUNS}?range=15m`),
    ]);
    await page.getByRole('button', { name: /Last 15 minutes/ }).waitFor();
    await page.clock.fastForward('02:00');
    await page.getByRole('button', { name: /Since / }).click();
    const counted = page.waitForRequest((request) => since(request) > since(listed));
    await page.getByRole('option', { name: 'Last 15 minutes' }).click();
    assert.ok(since(await counted) >= since(listed) + 120_000);
    await page.getByRole('button', { name: /Last 15 minutes/ }).waitFor();
  });

  walk('find runs of the draft by the version 0', 'member', async ({ page, open }) => {
    await open(RUNS);
    await page.getByRole('button', { name: 'More filters' }).click();
    const asked = page.waitForRequest(/\/runs\?.*version=0/);
    await page.getByLabel('Version').fill('0');
    await page.getByRole('button', { name: 'Apply' }).click();
    await asked;
    await page.getByRole('button', { name: 'More filters (1)' }).waitFor();
  });

  walk("use the list's start of a range for bulk actions", 'member', async ({ page, open }) => {
    const [listed] = await Promise.all([
      page.waitForRequest((request) => /\/runs\?.*since=/.test(request.url())),
      open(`${RUNS}?range=15m`),
    ]);
    const asked = Promise.withResolvers<{ since: string }>();
    await page.route('**/runs/retry', async (route) => {
      asked.resolve(route.request().postDataJSON());
      await route.continue();
    });
    await page.getByRole('button', { name: 'Retry failed …' }).click();
    assert.equal((await asked.promise).since, new URL(listed.url()).searchParams.get('since'));
  });

  walk('show the runs of one kind of error or of one hour, and retry them', 'member', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const demo = { projectId: weir.projectId, organization: 'demo' } as Tenant;
    const source = 'if (input !== "fine") throw new Error(input); return input;';
    const flow = (await weir.createFlow(demo, [code('pay', source)])).split('/')[2] as string;
    const failed: string[] = [];
    for (const message of [
      'no price for 17',
      'fine',
      'no price for 4',
      'no customer, said the register of customers',
    ]) {
      const { body } = await weir.call('POST', `demo/demo/${flow}/execute`, {
        key: weir.demoKey,
        body: { message },
      });
      if (message !== 'fine') failed.push(body.executionId);
    }
    await open(`${RUNS}?flow=${flow}`);
    const table = page.getByRole('table', { name: 'Runs' });
    const runs = table.getByRole('row').filter({ has: page.getByRole('link') });
    await page.getByRole('button', { name: 'Errors: 2 kinds in 3 runs' }).click();
    const errors = page.getByRole('table', { name: 'Errors' });
    const row = errors.getByRole('row', { name: /no price for 4/ });
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    await lookAt('run-errors');
    await row.getByRole('button', { name: /^Show runs/ }).click();
    await page.waitForURL(/error_group=/);
    await page.locator('[aria-busy=false]').getByRole('table', { name: 'Runs' }).waitFor();
    assert.equal(await runs.count(), 2);
    await row.getByRole('button', { name: /^Retry these runs/ }).click();
    await page.getByText(/These filters find 2 runs to retry/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'One error only' }).click();
    await page.waitForURL((url) => !url.search.includes('error_group'));

    const hours = page.getByRole('toolbar', { name: /3 failed/ });
    await hours.getByRole('button').last().focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.waitForURL(/since=.*until=/);
    await hours.getByRole('button', { pressed: true }).waitFor();
    await lookAt('run-hours');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => !url.search.includes('since'));

    const [first = ''] = failed;
    for (const [text, count] of [
      ['no price', 2],
      [first.slice(-8), 1],
    ] as const) {
      await page.getByRole('searchbox').fill(text);
      await page.waitForURL((url) => url.searchParams.get('search') !== null);
      await page.locator('[aria-busy=false]').getByRole('table', { name: 'Runs' }).waitFor();
      await waitUntil(async () => (await page.locator('[data-index] a').count()) === count);
    }
    await page.getByText(/also count runs that the filter by text leaves out/).waitFor();
    await lookAt('run-search');

    await open(`${RUNS}?flow=${flow}`);
    await page.getByRole('button', { name: 'Errors: 2 kinds in 3 runs' }).click();
    await row.getByRole('button', { name: /^Retry these runs/ }).click();
    await page.getByRole('button', { name: 'Retry 2 runs' }).click();
    await page.getByText(/^flow .*, one error only$/).waitFor();
  });
});
