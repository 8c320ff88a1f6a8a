import assert from 'node:assert/strict';
import { code } from '../../blocks.ts';
import { publishSteps } from '../../publish-steps.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

describeWalks('test cases in the console', (walk) => {
  walk(
    'show message and expectation, run on a version, and are compared by test run',
    'owner',
    async (tour) => {
      const { page, weir, open, lookAt } = tour;
      const answerOf = (text: string) => [code('a', `return { said: ${JSON.stringify(text)} };`)];
      const flow = await createFlow(weir, 'compared', answerOf('yes'));
      await publishSteps(weir.db, weir.projectId, 'demo/demo/compared', answerOf('yes'));
      await flow.replace(answerOf('no'));
      await open(`${flow.path}/tests`);
      for (const [name, text] of [
        ['agrees', 'yes'],
        ['answers', 'said'],
      ] as const) {
        await page.getByRole('button', { name: 'New test case' }).first().click();
        const dialog = page.getByRole('dialog', { name: 'New test case' });
        await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
        await dialog
          .getByRole('textbox', { name: 'Message' })
          .fill(`Do you agree?\n${'Please say so. '.repeat(30)}`);
        await dialog.getByRole('textbox', { name: 'Text' }).fill(text);
        await dialog.getByRole('button', { name: 'Create' }).click();
        await dialog.waitFor({ state: 'detached' });
      }
      const cases = page.getByRole('table', { name: 'Test cases' });
      const message = cases.getByRole('button', { name: /^Message of agrees: Do you agree/ });
      await message.click();
      assert.equal(await message.getAttribute('aria-expanded'), 'true');
      await cases.getByText('Contains “yes”').waitFor();
      await lookAt('test-cases');

      await page.getByRole('button', { name: /Version to test/ }).click();
      await page.getByRole('option', { name: 'Production (v1)' }).click();
      await page.getByRole('button', { name: 'Run all on production' }).click();
      await page.getByText('v1: 2 of 2 passed').waitFor();
      await page.getByRole('button', { name: /Version to test/ }).click();
      await page.getByRole('option', { name: 'Draft' }).click();
      await page.getByRole('button', { name: 'Run all on the draft' }).click();
      await page.getByText('Draft: 1 of 2 passed, 1 failed').waitFor();
      await page.getByRole('button', { name: /Compare with/ }).click();
      await page.getByRole('option', { name: /^v1, / }).click();
      await page.getByText('1 of 2 verdicts changed.').waitFor();
      const comparison = page.getByRole('table', { name: 'Comparison' });
      await comparison.getByRole('button', { name: 'agrees' }).click();
      await page.getByText('"said": "no"').waitFor();
      await lookAt('test-runs-compared');
    },
  );

  walk('carry tools and their results', 'owner', async ({ page, weir, open, lookAt }) => {
    const flow = await createFlow(weir, 'with-tools', [code('a', 'return 1;')]);
    await open(`${flow.path}/tests`);
    await page.getByRole('main').getByRole('button', { name: 'New test case' }).click();
    const dialog = page.getByRole('dialog', { name: 'New test case' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('asks');
    await dialog.getByRole('button', { name: 'Add tools' }).click();
    await dialog
      .getByRole('textbox', { name: 'Tools', exact: true })
      .fill('[{"type": "function", "function": {"name": "find"}}]');
    const results = dialog.getByRole('textbox', { name: 'Results of the tools' });
    await results.fill('{"name": "find"}');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('x');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Must be a list such as').waitFor();
    await lookAt('test-case-tools');
    // Filled over colored text, the browser would keep its color as a style attribute.
    await results.press('ControlOrMeta+a');
    await results.press('Delete');
    await results.fill('[{"name": "find", "result": {"found": true}}]');
    await dialog.getByText('Must be a list such as').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Test cases' }).getByText('tools', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit asks' }).click();
    await page.getByRole('dialog', { name: 'Test case' }).getByText('"found": true').waitFor();
  });
});
