import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

describeWalks('a large run in the console', (walk) => {
  walk('is tried again with its message, and made a test case without its result', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'large', [
      code('grow', 'return Array.from({ length: 200_000 }, (_, at) => "a line " + at)'),
    ]);
    await flow.publish();
    const choose = async (request: object, action: string) => {
      const { body } = await weir.call('POST', 'demo/demo/large/v1/execute', {
        ...{ key: weir.demoKey, body: request },
      });
      await open(`${flow.path}/runs/${body.executionId}`);
      await page.getByRole('button', { name: 'More for this run' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };

    await choose({ message: 'm' }, 'Save as test case …');
    const dialog = page.getByRole('dialog', { name: 'New test case' });
    await dialog.getByText('The result of the run is not taken over').waitFor();
    await dialog.getByLabel('Name').fill('from a large run');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('a line 7');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });

    const long = { message: 'x'.repeat(3_000_000) };
    await choose(long, 'Save as test case …');
    await page.getByText('The input of this run is too long for a test case').waitFor();

    await choose(long, 'Try with this input …');
    await page.getByText('too much to be edited here. It is sent as it is.').waitFor();
    await page.getByRole('button', { name: 'Write another message' }).press('Enter');
    await page.getByRole('textbox', { name: 'Message' }).and(page.locator(':focus')).waitFor();
  });
});
