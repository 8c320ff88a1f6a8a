// A newcomer tries the demo flow, whole and step by step, tests it, and calls it with a key made on the spot.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { beside, code, llm } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';
import { isInView } from './look-at.ts';

const FLOW = 'orgs/demo/projects/demo/flows/hello';

describeWalks('trying, testing and calling a flow in the console', (walk) => {
  walk(
    'shows what a run asks, and its errors, where the user looks',
    'owner',
    async ({ page, weir, open }) => {
      const asks = { processor_config: { tools_enabled: true } };
      const flow = await createFlow(weir, 'asks', [llm('ask', 'Use lookup', 'demo/chat', asks)]);
      await open(`${flow.path}?try=true`);
      await page.getByText('Images, tools, limit').click();
      await page.getByRole('textbox', { name: 'Tools' }).click();
      await page.keyboard.insertText(
        '[{"type": "function", "function": {"name": "lookup", "parameters": {}}}]',
      );
      const run = page.getByRole('button', { name: 'Run', exact: true });
      await run.click();
      const question = page.getByText('asks for a tool');
      await question.waitFor();
      await isInView(question);
      await isInView(page.getByRole('region', { name: 'Run' }).getByText('Waiting for tools').first());
      await isInView(run);
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByText('Cancelled', { exact: true }).first().waitFor();
    },
  );

  walk('runs one block again on its recorded input, beside its settings', 'owner', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createFlow(weir, 'one-block', [
      code('count', 'return { words: message.split(" ").length }'),
      code('double', 'return input.words * 2'),
    ]);
    await open(`${flow.path}?try=true`);
    await page.getByRole('textbox', { name: 'Message' }).fill('rivers and dams');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page
      .getByRole('region', { name: 'Run' })
      .getByRole('button', { name: 'double', exact: true })
      .click();
    const last = page.getByRole('region', { name: 'Last try' });
    await last.getByRole('region', { name: 'Output' }).getByText('6').waitFor();
    await last.getByRole('heading', { name: 'Code', exact: true }).waitFor();
    await lookAt('last-try');
    await flow.replace([
      code('count', 'return { words: message.split(" ").length }'),
      code('double', 'return input.words * 20'),
    ]);
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByText('The draft was changed elsewhere').waitFor();
    await last.getByRole('button', { name: 'Run this block' }).click();
    await last.getByRole('region', { name: 'Output' }).getByText('60').waitFor();
    await last.getByRole('region', { name: 'Input' }).getByText('words').waitFor();

    const inner = await createFlow(weir, 'inner-block', [beside(code('one', 'return 1'))]);
    await open(`${inner.path}?try=true`);
    await page.getByRole('textbox', { name: 'Message' }).fill('m');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Run' }).getByRole('button', { name: 'one', exact: true }).click();
    await last.getByText('Only steps outside loops and parallel steps can be run alone.').waitFor();
  });

  walk('shows no result of a run before it is loaded', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'late-result', [code('a', 'return "of rivers"')]);
    const held = Promise.withResolvers<void>();
    await page.route(/\/jobs\/[0-9a-f-]{36}(?:\?|$)/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await open(`${flow.path}?try=true`);
    await page.getByRole('textbox', { name: 'Message' }).fill('m');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Loading the result …').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Result' }).count(), 0);
    held.resolve();
    await page.getByRole('region', { name: 'Result' }).getByText('of rivers').waitFor();
  });

  walk(
    'tries the draft with a pinned output, which is edited and follows a new name, and without it again',
    'owner',
    async (tour) => {
      const { page, weir, open, lookAt } = tour;
      const flow = await createFlow(weir, 'pins', [
        code('count', 'return { words: message.split(" ").length }'),
        code('double', 'return input.words * 2'),
      ]);
      await open(`${flow.path}?try=true`);
      await page.getByRole('textbox', { name: 'Message' }).fill('rivers and dams');
      const blocks = page.getByRole('list', { name: 'Blocks' });
      const result = page.getByRole('region', { name: 'Result' });
      const run = async (expected: string, name = 'count') => {
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await result.getByText(expected, { exact: true }).waitFor();
        await blocks.getByRole('button', { name, exact: true }).click();
      };
      await run('6');
      await page
        .getByRole('region', { name: 'Last try' })
        .getByRole('button', { name: 'Pin output' })
        .click();
      const pinned = page.getByRole('region', { name: 'Pinned output' });
      await pinned.getByText('words').waitFor();
      await page.getByRole('treeitem', { name: /^count, .*output pinned$/ }).waitFor();
      await pinned.getByRole('textbox', { name: 'Pinned output' }).click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText('{"words": 50}');
      await open(`${flow.path}?try=true`);
      await run('100');
      await page.getByRole('region', { name: 'Last try' }).getByText('Pinned', { exact: true }).waitFor();
      await lookAt('pinned-output');
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Tally');
      await page.keyboard.press('Tab');
      await page.getByRole('treeitem', { name: /^Tally, .*output pinned$/ }).waitFor();
      await page.getByText('Saved', { exact: true }).waitFor();
      await open(`${flow.path}?try=true`);
      await run('100', 'Tally');
      await pinned.getByRole('button', { name: 'Unpin' }).click();
      await pinned.waitFor({ state: 'detached' });
      await open(`${flow.path}?try=true`);
      await run('6', 'Tally');
    },
  );

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
    'starts a session without the text typed in the previous one',
    'owner',
    async ({ page, weir, open }) => {
      const flow = await createFlow(weir, 'two-sessions', [
        code('a', 'return "kept"'),
        code('b', 'return input'),
      ]);
      await open(`${flow.path}?try=true`);
      await page.getByRole('button', { name: 'Step through' }).click();
      await page.getByRole('button', { name: 'Output', exact: true }).click();
      await page.getByRole('textbox', { name: 'Output' }).click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText('"of the first"');
      const second = page.waitForResponse('**/draft/step');
      await page.getByRole('button', { name: 'Step through' }).click();
      await second;
      await page.getByRole('button', { name: 'Run b' }).click();
      await page.getByRole('region', { name: 'Result' }).getByText('kept').waitFor();
    },
  );

  walk('links to the run of a session after a reload', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'left-session', [code('a', 'return 1'), code('b', 'return input')]);
    await open(`${flow.path}?try=true`);
    await page.getByRole('button', { name: 'Step through' }).click();
    await page.getByRole('button', { name: 'Run b' }).waitFor();
    await page.reload();
    const left = page.getByText('had not ended when you left this page');
    await left.getByRole('link').click();
    await page.getByRole('treeitem', { name: /^Run, Waiting for the next call, / }).waitFor();

    await open(`${flow.path}?try=true`);
    await left.waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page.reload();
    await page.getByText('Write a message and run the flow').waitFor();
    assert.equal(await left.count(), 0);
  });

  walk('takes no parameters from a run that had none', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'no-parameters', [code('a', 'return 1'), code('b', 'return 2')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/no-parameters/v1/execute', request);
    await open(`${flow.path}?fork=${body.executionId}&at=1&try=true`);
    await page.getByRole('button', { name: 'Run b' }).waitFor();
    await page.getByText('Parameters as JSON', { exact: true }).waitFor();
  });

  walk('continues a run of an earlier version with its steps or its input', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'from-a-run', [code('a', 'return 1'), code('gone', 'return input')]);
    await flow.publish();
    await flow.replace([code('a', 'return 1')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'rivers', parameters: { n: 1 } } };
    const { body } = await weir.call('POST', 'demo/demo/from-a-run/v1/execute', request);
    const run = `${flow.path}/runs/${body.executionId}`;
    const choose = async (action: string) => {
      await page.getByRole('button', { name: 'More for this run' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };

    await open(`${run}?block=gone`);
    await choose('Fork from the step of this block …');
    await page.getByRole('button', { name: 'Run gone' }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('1').first().waitFor();

    await open(run);
    await choose('Try with this input …');
    await page.getByText('Parameters as JSON · in use').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'rivers');

    await open(run);
    await choose('Save as test case …');
    const ofCase = page
      .getByRole('dialog', { name: 'New test case' })
      .getByRole('textbox', { name: 'Message' });
    assert.equal(await ofCase.inputValue(), 'rivers');

    await open(`${run}?block=gone`);
    await page.getByRole('link', { name: 'v1', exact: true }).click();
    await page.getByRole('region', { name: 'Version 1' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Open in the editor' }).click();
    await page.getByText('The draft has no step gone').waitFor();
  });

  walk('shows the result of a test run that nobody watched', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'not-watched', [code('a', 'return "weir"')]);
    await open(`${flow.path}/tests`);
    await page.getByRole('button', { name: 'New test case' }).click();
    await page.getByLabel('Name').fill('says weir');
    await page.getByRole('textbox', { name: 'Text' }).fill('weir');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Run all on the draft' }).click();
    await page.getByText('1 of 1 passed').first().waitFor();
    // The lists as they were while it ran.
    await page.route(
      '**/test-runs?*',
      async (route) => {
        const response = await route.fetch();
        const page = await response.json();
        await route.fulfill({ response, json: { ...page, test_runs: page.test_runs.map(begun) } });
      },
      { times: 1 },
    );
    await open(`${flow.path}/tests`);
    const runs = page.getByRole('table', { name: 'Test runs' });
    await runs.getByText('Running').waitFor();
    await runs.getByText('Completed').waitFor();
  });

  walk('says of a test case that its run ended in an error', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'throws', [code('a', 'throw new Error("no")')]);
    await open(`${flow.path}/tests`);
    await page.getByRole('button', { name: 'New test case' }).click();
    await page.getByLabel('Name').fill('any');
    await page.getByRole('textbox', { name: 'Text' }).fill('1');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Run all on the draft' }).click();
    await page.getByRole('cell', { name: 'Error', exact: true }).waitFor();
  });

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
    async ({ page, open, weir }) => {
      await open(`${FLOW}/call`);
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

  walk('says why a session did not start, and gives up one without a response', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/status of 429|ERR_FAILED/);
    const flow = await createFlow(weir, 'refused-session', [code('a', 'return 1')]);
    await open(`${flow.path}?try=true`);
    const run = page.getByRole('region', { name: 'Run', exact: true });
    const begin = page.getByRole('button', { name: 'Step through' });
    const detail = { code: 'RATE_LIMITED', message: 'Too many runs are under way.' };
    const refuse = { status: 429, json: { detail } };
    await page.route('**/draft/step', (route) => route.fulfill(refuse), { times: 1 });
    await begin.click();
    await run.getByText(detail.message).waitFor();
    await run.getByText('Failed', { exact: true }).waitFor();
    await page.route('**/draft/step', (route) => route.abort());
    await begin.click();
    await run.getByText('No response has come yet.').waitFor();
    await run.getByRole('button', { name: 'Cancel' }).click();
    await run.getByText('the run may have started').waitFor();
  });
});

/** A listed test run as it was while its cases ran. */
function begun(testRun: object): object {
  return { ...testRun, status: 'started', passed: 0 };
}
