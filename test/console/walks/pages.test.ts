import assert from 'node:assert/strict';
import { describeWalks, type Walk } from './describe-walks.ts';

const PROJECT = 'orgs/demo/projects/demo';
/** Pages by the name of their pictures: the address, and what is there once the page is complete. */
const PAGES: { [name: string]: [path: string, complete: (walk: Walk) => Promise<unknown>] } = {
  runs: [`${PROJECT}/runs`, ({ page }) => page.getByRole('cell', { name: 'Completed' }).first().waitFor()],
  keys: [`${PROJECT}/keys`, ({ page }) => page.getByText('npm start').first().waitFor()],
  editor: [`${PROJECT}/flows/hello`, ({ page }) => page.getByText('summary').first().waitFor()],
  versions: [
    `${PROJECT}/flows/hello/versions`,
    ({ page }) => page.getByText('Comes with Weir').first().waitFor(),
  ],
  tests: [
    `${PROJECT}/flows/hello/tests`,
    ({ page }) => page.getByRole('heading', { name: 'No test case yet' }).waitFor(),
  ],
  call: [`${PROJECT}/flows/hello/call`, ({ page }) => page.getByText('curl').first().waitFor()],
  secret: ['orgs/demo/webhooks/secret', ({ page }) => page.getByRole('button', { name: /Rotate/ }).waitFor()],
  'not-found': ['orgs/demo/nothing', ({ page }) => page.getByRole('heading', { level: 1 }).waitFor()],
  webhooks: ['orgs/demo/webhooks', ({ page }) => page.getByRole('heading', { level: 1 }).waitFor()],
  usage: ['orgs/demo/usage', ({ page }) => page.getByRole('heading', { level: 1 }).waitFor()],
  organization: ['orgs/demo/settings', ({ page }) => page.getByRole('heading', { level: 1 }).waitFor()],
  members: ['orgs/demo/settings/members', ({ page }) => page.getByText('owner').first().waitFor()],
  projects: ['orgs/demo/settings/projects', ({ page }) => page.getByText('demo').first().waitFor()],
  'model-keys': [
    'orgs/demo/settings/model-keys',
    ({ page }) => page.getByRole('heading', { level: 1 }).waitFor(),
  ],
  credits: ['orgs/demo/settings/credits', ({ page }) => page.getByRole('heading', { level: 1 }).waitFor()],
  'audit-log': [
    'orgs/demo/settings/audit-log',
    ({ page }) => page.getByRole('heading', { level: 1 }).waitFor(),
  ],
  account: ['account', ({ page }) => page.getByText('owner@weir.local').first().waitFor()],
};

describeWalks('the pages of the console', (walk) => {
  for (const [name, [path, complete]] of Object.entries(PAGES))
    walk(`${name}: is complete, readable and has no finding of axe`, 'owner', async (tour) => {
      await tour.open(path);
      await complete(tour);
      await tour.lookAt(name);
    });

  walk('have no scrollbar beside a table that is shown completely', 'owner', async ({ page, open }) => {
    await open(PROJECT);
    const table = page.getByRole('table', { name: 'Flows' });
    await table.getByRole('link', { name: 'Hello' }).waitFor();
    const overflow = 'getComputedStyle(document.querySelector("table").parentElement).overflowY';
    assert.equal(await page.evaluate(overflow), 'hidden');
  });

  for (const [path, late, below, known] of [
    ['orgs/demo/usage', '**/api/**/usage?**', 'In numbers', ({ page }: Walk) => page.getByRole('img')],
    ['orgs/demo/settings/credits', '**/api/**/credits', 'Ledger', ({ page }: Walk) => page.getByText(/^\$/)],
  ] as const)
    walk(`${path}: keeps the space of late data`, 'owner', async (tour) => {
      const { page, open } = tour;
      const held = Promise.withResolvers<void>();
      await page.route(late, async (route) => {
        await held.promise;
        await route.continue();
      });
      await open(path);
      const place = () => page.getByRole('heading', { name: below }).boundingBox();
      const before = await place();
      held.resolve();
      await known(tour).first().waitFor();
      assert.deepEqual(await place(), before);
    });

  walk(
    'secret: shows the panel below the secret once the secret is loaded',
    'owner',
    async ({ page, open }) => {
      const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route('**/webhooks/secret', async (route) => {
        if (route.request().resourceType() !== 'document') {
          asked.resolve();
          await held.promise;
        }
        await route.continue();
      });
      await open('orgs/demo/webhooks/secret');
      await asked.promise;
      const below = page.getByRole('heading', { name: 'What a receiver does' });
      await page.getByText('Loading …').waitFor();
      assert.equal(await below.count(), 0);
      held.resolve();
      await below.waitFor();
    },
  );
});
