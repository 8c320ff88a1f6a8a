// Buttons that go with their press: whoever works by keyboard goes on from where they were.
import { sql } from 'kysely';
import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

describeWalks('the focus in the console', (walk) => {
  walk('stays in the page when a press removes its button', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'buttons-go', [code('a', 'return "weir"')]);
    await flow.publish();
    await sql`insert into test_case (flow_id, name, input, expectation)
      select ${flow.id}, 'case ' || i, '{"message":"m"}', '{"type":"contains","text":"weir"}'
      from generate_series(1, 60) i`.execute(weir.db);
    const press = async (name: string | RegExp) => {
      const button = page.getByRole('main').getByRole('button', { name, exact: true });
      await button.press('Enter');
      await button.waitFor({ state: 'detached' });
      await page.locator('#main:focus, #main :focus').waitFor();
    };
    await open('orgs/demo/projects/demo');
    await press('Dismiss');

    await open(`${flow.path}/tests`);
    await page
      .getByRole('button', { name: /^Run case / })
      .first()
      .press('Enter');
    await press('Close');
    await press('Show more');

    await open(`${flow.path}?try=true`);
    await page.getByText('Images, tools, limit').click();
    await page.getByLabel('Image', { exact: true }).fill('https://example.com/a.png');
    await page.getByLabel('Image', { exact: true }).press('Enter');
    await press('Remove image 1');
    await open(flow.path);
    await page.getByRole('treeitem', { name: /^a, / }).waitFor();
    await flow.replace([code('b', 'return 1')]);
    await page.getByText('and is shown as it is now').waitFor();
    await press('Close');

    await open('orgs/demo/projects/demo/runs');
    await page.getByRole('table', { name: 'Runs' }).waitFor();
    await weir.call('POST', 'demo/demo/buttons-go/v1/execute', { key: weir.demoKey, body: { message: 'm' } });
    await press(/new runs?$/);
  });
});
