import assert from 'node:assert/strict';
import { describeWalks } from './describe-walks.ts';

const RUNS = 'orgs/demo/projects/demo/runs';

describeWalks('runs in the console', (walk) => {
  walk(
    'opens a run from the list, goes through its blocks by keyboard and names the chosen one in the address',
    'owner',
    async ({ page, open, lookAt }) => {
      await open(RUNS);
      await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().press('Enter');
      const blocks = page.getByRole('tree', { name: 'Blocks of the run over time' });
      await blocks.getByRole('treeitem', { name: /^Put the answer together/ }).waitFor();
      await page.getByRole('heading', { name: 'Started with' }).waitFor();
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

  walk('keeps filters in the address, and clears them where they find nothing', 'member', async (tour) => {
    const { page, open } = tour;
    await open(`${RUNS}?status=failed`);
    await page.getByRole('heading', { name: 'No run passes these filters' }).waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('cell', { name: 'Completed' }).first().waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.keyboard.press('/');
    await page.keyboard.type('000000');
    await page.getByRole('heading', { name: 'No run passes these filters' }).waitFor();
  });

  walk(
    'says of a run that is not there what may have become of it',
    'owner',
    async ({ page, open, allow }) => {
      allow(/404/);
      await open('orgs/demo/projects/demo/flows/hello/runs/6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34');
      await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    },
  );
});
