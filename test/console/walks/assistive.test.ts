import assert from 'node:assert/strict';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

const KEYS = 'orgs/demo/projects/demo/keys';
const EDITOR = 'orgs/demo/projects/demo/flows/hello';

/** The buttons and links of a part of the page that are smaller on the screen than 24 pixels, read in the browser. */
const SMALL = `[...document.querySelectorAll('.react-flow button')]
  .filter((button) => { const { width, height } = button.getBoundingClientRect(); return width < 23.9 || height < 23.9; })
  .map((button) => button.getAttribute('aria-label'))`;

describeWalks('the console for assistive technology', (walk) => {
  walk('says the page that was gone to, by its tab, and its project', 'owner', async ({ page, open }) => {
    await open('orgs/demo/settings');
    await page.getByRole('link', { name: 'Members', exact: true }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'Members · Settings · Weir' }).waitFor();
    assert.equal(await page.title(), 'Members · Settings · Weir');
    await page.getByRole('button', { name: 'Project: Demo, of Demo' }).waitFor();
  });

  walk(
    'has the buttons of the graph large enough, and names what they open',
    'owner',
    async ({ page, open }) => {
      await open(EDITOR);
      const step = page.getByRole('treeitem').first();
      await step.click();
      await page.getByRole('button', { name: 'Actions', exact: true }).first().waitFor();
      assert.deepEqual(await page.evaluate(SMALL), []);
      await step.press('a');
      await page.getByRole('dialog', { name: 'Add a step' }).waitFor();
    },
  );

  walk('moves the focus to the page when what had it is deleted', 'owner', async ({ page, weir, open }) => {
    await createFlow(weir, 'to-delete', []);
    await open('orgs/demo/projects/demo');
    await page.getByRole('button', { name: 'Actions of to-delete' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete …' }).press('Enter');
    await page.getByRole('button', { name: 'Delete flow' }).press('Enter');
    await page.getByRole('row', { name: /^to-delete/ }).waitFor({ state: 'detached' });
    await page.locator('#main:focus').waitFor();
  });

  walk('gives the focus back to what opened two dialogs in turn', 'owner', async ({ page, open }) => {
    await open(KEYS);
    const opener = page.getByRole('button', { name: 'New API key' });
    await opener.first().press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('for a program');
    await page.getByRole('button', { name: 'Create key' }).press('Enter');
    await page.getByRole('button', { name: 'I have copied it' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('button:focus', { hasText: 'New API key' }).waitFor();
  });
});
