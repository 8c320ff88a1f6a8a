import assert from 'node:assert/strict';
import { describeWalks } from './describe-walks.ts';

const PROJECT = 'orgs/demo/projects/demo';

describeWalks('the first hour in the console', (walk) => {
  walk(
    'builds a flow of a model call, a parallel step and a loop by hand, tries it, fixes what fails and steps through it',
    'owner',
    async ({ page, open, lookAt, allow }) => {
      // The draft is saved while code is typed, too; what does not parse yet is refused.
      allow(/status of 400 .*\/draft\)$/);
      const add = async (kind: string) => {
        // Steps at the end of the flow are added before the one that reads "Result".
        await page.getByRole('button', { name: 'Add a step here' }).last().click();
        await page.getByRole('menuitem', { name: kind }).click();
      };
      const step = (name: string | RegExp) => page.getByRole('treeitem', { name });
      const blocks = page.getByRole('list', { name: 'Blocks' });
      const status = page.getByRole('region', { name: 'Run' }).getByRole('status');

      await open(PROJECT);
      await page.getByRole('button', { name: 'New flow' }).click();
      await page.getByLabel('Name').fill('Walk');
      await page.getByRole('button', { name: 'Create flow' }).click();
      await page.getByRole('heading', { name: 'No steps yet' }).waitFor();

      await page.getByRole('button', { name: 'Model call' }).click();
      await page.getByRole('combobox', { name: 'Model' }).fill('demo/');
      await page.getByRole('option', { name: 'demo/chat' }).click();
      await page.getByRole('textbox', { name: 'Prompt' }).click();
      await page.keyboard.type('Write about {{mess');
      await page.getByRole('option', { name: 'message' }).waitFor();
      await page.keyboard.press('Enter');
      await step(/^Model call, model call, demo\/chat/).waitFor();
      await add('Parallel');
      await step('Parallel, parallel step with 2 branches').waitFor();
      await add('Loop');
      await step(/^Loop, loop for each item/).waitFor();
      await page.getByText('Saved', { exact: true }).waitFor();
      await lookAt('editor-built');

      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByRole('textbox', { name: 'Message' }).fill('rivers');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await status.getByText('Failed').waitFor();
      await page.getByText('The loop loop needs an array as its input').waitFor();
      await lookAt('try-failed');

      await page.getByRole('button', { name: 'Show loop' }).click();
      await step(/^Loop, /).focus();
      await page.keyboard.press('Shift+A');
      await page.getByRole('menuitem', { name: 'Code' }).click();
      await step(/^Code, /).press('Enter');
      await page.getByRole('textbox', { name: 'Code' }).click();
      await page.keyboard.press('Control+Home');
      await page.keyboard.type('return Object.values(input);');
      await page.keyboard.press('Shift+End');
      await page.keyboard.press('Delete');
      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await status.getByText('Completed').waitFor();
      await blocks.getByRole('button', { name: 'Pass through #1' }).waitFor();
      await step(/^Code, code block, completed/).waitFor();
      await lookAt('try-completed');

      await page.getByRole('button', { name: 'Step through' }).click();
      await page.getByRole('button', { name: 'Run Parallel' }).click();
      await page.getByRole('button', { name: 'Run Code' }).waitFor();
      await lookAt('try-step');
      await page.getByRole('button', { name: 'Run the rest' }).click();
      await status.getByText('Completed').waitFor();
      assert.equal(await page.getByRole('list', { name: 'Steps' }).getByText('Has an output').count(), 4);
    },
  );

  walk(
    'makes a key, calls the flow with it, sees the run, and revokes the key, which is then refused',
    'owner',
    async ({ page, weir, open, lookAt }) => {
      const call = (key: string) =>
        weir.call('POST', 'demo/demo/hello/execute', { key, body: { message: 'rivers, dams' } });
      await open(`${PROJECT}/keys`);
      await page.getByRole('button', { name: 'New API key' }).click();
      await page.getByLabel('Name').fill('A caller');
      await page.getByRole('button', { name: 'Create key' }).click();
      const shown = page.getByText(/^weir_live_\w+$/);
      const key = (await shown.textContent()) ?? '';
      await lookAt('key-created');
      const answer = await call(key);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));

      await open(`${PROJECT}/runs`);
      await page.getByRole('link', { name: answer.body.executionId.slice(-8) }).click();
      await page.getByText('Write a sentence').first().waitFor();

      await open(`${PROJECT}/keys`);
      const row = page.getByRole('row').filter({ hasText: 'A caller' });
      await row.getByRole('button', { name: /Revoke/ }).click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await row.getByText('Revoked').waitFor();
      assert.equal((await call(key)).status, 401);
    },
  );
});
