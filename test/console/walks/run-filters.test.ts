import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
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
});
