import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { seedRuns } from '../../db/seed-runs.ts';
import { waitUntil } from '../../wait-until.ts';
import type { ConsoleWeir } from './console-weir.ts';
import { describeWalks } from './describe-walks.ts';

const RUNS = 10_000;
/** The rows of one window, and those kept ready above and below it. */
const ROWS_MAX = 80;

/** Adds runs to the demo project. */
async function seed(weir: ConsoleWeir, count: number): Promise<void> {
  await seedRuns(weir.db, { count, busyFlowId: weir.helloId });
}

describeWalks('long lists in the console', (walk) => {
  walk(
    'scrolls through 10,000 runs with only the rows in view in the page',
    'owner',
    async ({ page, weir, open }) => {
      await seed(weir, RUNS);
      await open('orgs/demo/projects/demo/runs');
      const table = page.getByRole('table', { name: 'Runs' });
      const rows = table.getByRole('row');
      await table.getByRole('link').first().focus();
      const last = page.getByText(/^10,\d{3} runs$/);
      let most = 0;
      let height: string | null = null;
      while (!(await last.isVisible())) {
        await page.keyboard.press('End');
        most = Math.max(most, await rows.count());
        // The next page of the list makes it higher.
        height = await waitUntil(async () => {
          const found = await table.getByRole('rowgroup').getAttribute('style');
          return (found !== height || (await last.isVisible())) && found;
        });
      }
      assert.ok(most > 10 && most <= ROWS_MAX, `${most} rows`);
      await page.keyboard.press('End');
      const [, count = ''] = /^(\S+) runs$/.exec((await last.textContent()) ?? '') ?? [];
      const end = rows.and(page.locator(`[aria-rowindex="${Number(count.replace(',', '')) + 1}"]`));
      await end.waitFor();
      await page.keyboard.press('Home');
      await rows.and(page.locator('[aria-rowindex="2"]')).waitFor();
      assert.ok((await rows.count()) <= ROWS_MAX);
    },
  );

  for (const [which, search] of [
    ['the runs', ''],
    ['the runs of the last days', '?range=30d'],
  ])
    walk(`restore the scroll position in ${which}`, 'owner', async ({ page, weir, open }) => {
      await seed(weir, 1_000);
      await open(`orgs/demo/projects/demo/runs${search}`);
      const table = page.getByRole('table', { name: 'Runs' });
      // Beyond the first page.
      const row = table.getByRole('row').and(page.locator('[aria-rowindex="300"]'));
      await table.getByRole('link').first().focus();
      await waitUntil(async () => {
        await page.keyboard.press('PageDown');
        return (await row.count()) > 0;
      });
      await row.scrollIntoViewIfNeeded();
      const [place, id] = [await row.boundingBox(), await row.getByRole('link').first().textContent()];
      await row.getByRole('link').first().click();
      await page.getByRole('heading', { name: 'Started with' }).waitFor();
      await page.goBack();
      await row.waitFor();
      assert.deepEqual(
        [await row.boundingBox(), await row.getByRole('link').first().textContent()],
        [place, id],
      );
    });

  walk('of flows are searched completely', 'owner', async ({ page, weir, open }) => {
    await sql`
      insert into flow (project_id, slug, name, draft, draft_digest)
      select project_id, 'many-' || number, 'Number ' || number, draft, draft_digest
      from flow, generate_series(1, 4900) as number where id = ${weir.helloId}`.execute(weir.db);
    await open('orgs/demo/projects/demo');
    const field = page.getByRole('searchbox', { name: 'Find a flow' });
    const found = (text: string) => page.getByRole('status').filter({ hasText: text });
    await field.fill('number 4321');
    await page.getByRole('link', { name: 'Number 4321', exact: true }).waitFor();
    await found('1 found').waitFor();
    await field.fill('Number');
    await found('50 or more found').waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await found('100 or more found').waitFor();
    await field.fill('number 9999');
    await page.getByText('No flow has “number 9999” in its name or slug.').waitFor();
    await field.fill('');
    await page.getByRole('link', { name: 'Hello', exact: true }).first().waitFor();
    assert.equal(await page.locator('input:focus').getAttribute('type'), 'search');
  });

  walk('of flows keep their search after Back and a reload', 'owner', async ({ page, weir, open }) => {
    await sql`
      insert into flow (project_id, slug, name, draft, draft_digest)
      select project_id, 'other-' || number, 'Other ' || number, draft, draft_digest
      from flow, generate_series(1, 9) as number where id = ${weir.helloId}`.execute(weir.db);
    await open('orgs/demo/projects/demo');
    const field = page.getByRole('searchbox', { name: 'Find a flow' });
    const isFound = async () => {
      await page.getByRole('status').filter({ hasText: '1 found' }).waitFor();
      assert.equal(await field.inputValue(), 'other 7');
    };
    await field.fill('other 7');
    // At once: what was typed last is not yet in the address.
    await page.getByRole('link', { name: 'Other 7', exact: true }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Other 7' }).waitFor();
    await page.goBack();
    await isFound();
    await page.reload();
    await isFound();
    await page.getByRole('link', { name: 'Flows', exact: true }).click();
    await page.getByRole('link', { name: 'Hello', exact: true }).first().waitFor();
    assert.equal(await field.inputValue(), '');
  });

  walk(
    'of organizations and projects end at 200, and the others open at their addresses and where the console was last',
    'member',
    async (tour) => {
      const { page, weir, open, allow } = tour;
      allow(/404/);
      const { user_id } = await weir.db
        .selectFrom('membership')
        .select('user_id')
        .where('organization_id', '=', weir.organizationId)
        .where('role', '=', 'member')
        .executeTakeFirstOrThrow();
      await sql`
      with other as (
        insert into organization (slug, name) select 'a-' || number, 'Other' from generate_series(1, 200) as number
        returning id
      )
      insert into membership (organization_id, user_id, role) select id, ${user_id}, 'member' from other`.execute(
        weir.db,
      );
      await open('orgs/demo/projects/demo');
      await page.getByRole('link', { name: 'hello' }).first().waitFor();
      await page.getByRole('button', { name: 'Project' }).click();
      await page.getByText('There are more than are listed here').waitFor();
      await page.getByRole('menuitemradio', { name: 'demo' }).waitFor();
      // The page that it was last open at.
      await open('');
      await page.waitForURL('**/orgs/demo/projects/demo');
      await page.getByRole('link', { name: 'hello' }).first().waitFor();
      await open('orgs/demo/projects/nowhere');
      await page.getByText('There is nothing here').waitFor();
    },
  );

  walk('of projects include more than /me does', 'owner', async ({ page, open }) => {
    await page.route('**/api/v1/me', async (route) => {
      const response = await route.fetch();
      const me = await response.json();
      const organizations = me.organizations.map((one: object) => ({ ...one, projects: [] }));
      await route.fulfill({ response, json: { ...me, organizations, hasMore: true } });
    });
    await open('account');
    await page.getByRole('row', { name: /demo/ }).getByText('0+').waitFor();
    await open('orgs/demo/usage?project=demo');
    await page.getByRole('main').getByRole('button', { name: 'Demo' }).waitFor();
  });
});
