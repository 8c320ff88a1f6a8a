// A newcomer tries the demo flow, whole and step by step, tests it, and calls it with a key made on the spot.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

const FLOW = 'orgs/demo/projects/demo/flows/hello';

describeWalks('trying, testing and calling a flow in the console', (walk) => {
  walk('runs the draft and shows its blocks and its result', 'owner', async ({ page, open, lookAt }) => {
    await open(`${FLOW}?try=true`);
    await page.getByRole('textbox', { name: 'Message' }).fill('rivers, dams');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page.getByRole('region', { name: 'Result' }).getByText('dams meet weirs').waitFor();
    await lookAt('try-it');
  });

  walk(
    'steps through the draft, with an output that was edited on the way',
    'owner',
    async ({ page, open }) => {
      await open(`${FLOW}?try=true`);
      await page.getByRole('textbox', { name: 'Message' }).fill('rivers, dams');
      await page.getByRole('button', { name: 'Step through' }).click();
      await page.getByRole('button', { name: 'Output', exact: true }).click();
      await page.getByRole('textbox', { name: 'Output' }).click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText('["lakes"]');
      await page.getByRole('button', { name: 'Use this output from here on' }).click();
      await page.getByRole('button', { name: 'Run the rest' }).click();
      await page.getByRole('region', { name: 'Result' }).getByText('lakes meet weirs').waitFor();
    },
  );

  walk(
    'makes a test case, and shows why its answer is not as expected',
    'owner',
    async ({ page, open, lookAt }) => {
      await open(`${FLOW}/tests`);
      await page.getByRole('button', { name: 'New test case' }).click();
      await page.getByLabel('Name').fill('speaks of lakes');
      await page.getByRole('textbox', { name: 'Message' }).fill('rivers');
      await page.getByRole('textbox', { name: 'Text' }).fill('lakes');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('button', { name: 'Run all on the draft' }).click();
      const outcome = page.getByText('0 of 1 passed, 1 failed');
      await outcome.waitFor();
      await page.reload();
      await outcome.waitFor();
      await lookAt('test-cases');
    },
  );

  walk(
    'writes the key that is made there into the program, which works',
    'owner',
    async ({ page, open, weir, lookAt }) => {
      await open(`${FLOW}/call`);
      await lookAt('call');
      await page.getByRole('button', { name: 'Make a key here' }).click();
      await page.getByRole('button', { name: 'Make key' }).click();
      await page.getByRole('region', { name: 'API key', exact: true }).waitFor();
      const program = (await page.getByRole('region', { name: 'Program in curl' }).textContent()) ?? '';
      const [key = ''] = /weir_test_\w+/.exec(program) ?? [];
      const response = await fetch(`${weir.url}/api/v1/seq/demo/demo/hello/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'rivers' }),
      });
      assert.equal(response.status, 200);
    },
  );

  walk('offers every version, however many there are', 'owner', async ({ page, open, weir }) => {
    const flow = await createFlow(weir, 'many-versions', [code('a', 'return 1')]);
    await flow.publish();
    await sql`
      insert into flow_version (flow_id, version, definition, note)
      select flow_id, number, definition, note from flow_version, generate_series(2, 120) as number
      where flow_id = ${flow.id} and version = 1`.execute(weir.db);
    await open(`${flow.path}?try=true`);
    await page.getByRole('button', { name: /Draft/ }).first().click();
    await page.getByRole('option', { name: 'v1', exact: true }).waitFor();
    await page.getByRole('option', { name: 'v120', exact: true }).waitFor();
  });
});
