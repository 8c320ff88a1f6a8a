import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';
import { drawFrames } from './look-at.ts';

const named = (name: string): Step => ({ ...passthrough('only'), name });
const step = (page: Page, name: RegExp) => page.getByRole('treeitem', { name });
/** As when the reader comes back to the page, which then asks whether the draft was changed elsewhere. */
const comeBack = (page: Page) => page.evaluate("dispatchEvent(new Event('focus'))");
const isSaved = (page: Page) => page.getByText('Saved', { exact: true }).waitFor();

describeWalks('the editor of a flow', (walk) => {
  walk(
    'builds a flow by keyboard alone, and takes changes back',
    'owner',
    async ({ page, weir, open, lookAt }) => {
      const flow = await createFlow(weir, 'by-keyboard', []);
      await open(flow.path);
      await page.getByText('No steps yet').waitFor();
      await lookAt('editor-empty');
      await page.getByRole('button', { name: 'Run code' }).press('Enter');
      for (const [before, kind] of [
        [/^Code,/, 'Parallel'],
        [/^Parallel,/, 'Loop'],
      ] as const) {
        await step(page, before).press('a');
        await page.getByRole('menuitem', { name: kind }).press('Enter');
      }
      await step(page, /^Loop,/).press('Alt+ArrowUp');
      await isSaved(page);
      await page.getByRole('button', { name: 'Undo: Move: loop' }).waitFor();
      await isSaved(page);
      assert.deepEqual(await flow.names(), ['Code', 'Loop', 'Parallel']);
      await step(page, /^Loop,/).press('Delete');
      await step(page, /^Loop,/).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo: Delete loop' }).press('Enter');
      await step(page, /^Loop,/).waitFor();
      await step(page, /^Code,/).press('?');
      await page.getByRole('heading', { name: 'Keys of the graph' }).waitFor();
    },
  );

  walk('shows notes at their step, with the flow, and before it is published', 'owner', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const NOTE = 'The code never returns a value, so the output is null: add a return.';
    const flow = await createFlow(weir, 'noted', [code('sum', 'const sum = 1 + 1;')]);
    await open(flow.path);
    await page.getByRole('region', { name: 'Notes' }).getByRole('button', { name: NOTE }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    await page.getByText(NOTE).waitFor();
    await lookAt('editor-note');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(NOTE).waitFor();
    await lookAt('publish-note');
    await dialog.getByRole('button', { name: 'sum', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  walk('keeps the focus when the last step is deleted, and when it is restored', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'last-step', [named('Last')]);
    await open(flow.path);
    await step(page, /^Last,/).press('Delete');
    await page.getByRole('button', { name: 'Model call' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Control+z');
    await step(page, /^Last,/)
      .and(page.locator(':focus'))
      .waitFor();
  });

  walk('edits the example messages of a model, and keeps no blank one', 'owner', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createFlow(weir, 'examples', [llm('ask', '{{message}}', 'demo/chat')]);
    await open(`${flow.path}?step=ask`);
    const add = page.getByRole('button', { name: 'Add example message' });
    await add.click();
    await page.getByRole('textbox', { name: 'Example message 1' }).fill('Is a weir a dam?');
    await add.click();
    const second = page.getByRole('textbox', { name: 'Example message 2' });
    await second.fill('A low one.');
    await add.click();
    await page.getByRole('textbox', { name: 'Example message 3' }).waitFor();
    await lookAt('editor-example-messages');
    await page.getByRole('button', { name: 'Undo: Change the example messages of ask' }).waitFor();
    await isSaved(page);
    const answered = { role: 'assistant', content: 'A low one.' };
    const kept = async () =>
      (await flow.steps()).map((step) => 'processor_config' in step && step.processor_config);
    assert.deepEqual(await kept(), [{ messages: [{ role: 'user', content: 'Is a weir a dam?' }, answered] }]);

    await page.reload();
    await second.waitFor();
    await page.getByRole('button', { name: 'Remove example message 1' }).click();
    await second.waitFor({ state: 'detached' });
    await isSaved(page);
    assert.deepEqual(await kept(), [{ messages: [answered] }]);
  });

  walk('edits one text per line, with Enter before the next one is typed', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'stops', [llm('ask', '{{message}}', 'demo/chat')]);
    await open(`${flow.path}?step=ask`);
    await page.getByText('More', { exact: true }).click();
    const stops = page.getByRole('textbox', { name: 'Stop at' });
    const undoes = (label: string) => page.getByRole('button', { name: `Undo: ${label}` }).waitFor();
    await stops.pressSequentially('END');
    await stops.press('Enter');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed');
    await undoes('Change the name of ask');
    await isSaved(page);
    assert.deepEqual(await flow.names(), ['Renamed']);
    await stops.press('Control+End');
    await stops.pressSequentially('STOP');
    await undoes('Change the stop texts of Renamed');
    await isSaved(page);
    await page.reload();
    await page.getByText('More (stop texts)').click();
    assert.equal(await stops.inputValue(), 'END\nSTOP');
  });

  walk(
    'keeps a form open whose code is left by Escape and Tab, or that is clicked beside',
    'owner',
    async ({ page, weir, open }) => {
      const flow = await createFlow(weir, 'typed-in-dialog', [passthrough('only')]);
      await open(`${flow.path}/tests`);
      await page.getByRole('button', { name: 'New test case' }).click();
      const dialog = page.getByRole('dialog', { name: 'New test case' });
      await dialog.getByLabel('Name').fill('kept');
      const parameters = dialog.getByRole('textbox', { name: 'Parameters' });
      await parameters.press('Escape');
      await parameters.press('Tab');
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Add tools');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.getByRole('option', { name: 'Matches a JSON Schema' }).click();
      await page.mouse.click(5, 5);
      assert.equal(await dialog.getByLabel('Name').inputValue(), 'kept');
      await dialog.getByLabel('Name').press('Escape');
      await dialog.waitFor({ state: 'detached' });

      await open(`${flow.path}?try=true`);
      const panel = page.getByRole('complementary', { name: 'Try it' });
      await panel.getByText('Parameters as JSON').click();
      await panel.getByRole('textbox', { name: 'Parameters' }).press('Escape');
      await panel.getByLabel('Message').press('Escape');
      await panel.waitFor({ state: 'hidden' });
    },
  );

  walk(
    'suggests models also to someone who typed before they were fetched',
    'owner',
    async ({ page, weir, open, allow }) => {
      // The draft is saved while the name is typed, too; what is not the name of a model yet is refused.
      allow(/status of 400 .*\/draft\)$/);
      const flow = await createFlow(weir, 'slow-models', []);
      const asked = Promise.withResolvers<void>();
      await page.route('**/api/v1/models?**', async (route) => {
        await asked.promise;
        await route.continue();
      });
      await open(flow.path);
      await page.getByRole('button', { name: 'Model call' }).click();
      await page.getByRole('combobox', { name: 'Model' }).fill('demo/');
      await page.getByText('Loading…').waitFor();
      asked.resolve();
      await page.getByRole('option', { name: 'demo/chat' }).click();
      await step(page, /^Model call, model call, demo\/chat/).waitFor();
      await page.getByRole('combobox', { name: 'Model' }).fill('other/model');
      await page.getByText('Nothing in the list matches. Any text can be entered.').waitFor();
    },
  );

  walk(
    'shows a change made elsewhere meanwhile, and overwrites it only when told to',
    'owner',
    async ({ page, weir, open, lookAt, allow }) => {
      const flow = await createFlow(weir, 'conflict', [named('First')]);
      allow(/status of 412/);
      await open(`${flow.path}?step=only`);
      let isFirst = true;
      await page.route('**/draft', async (route) => {
        if (route.request().method() === 'PUT' && isFirst) {
          isFirst = false;
          await flow.replace([named('Theirs')]);
        }
        await route.continue();
      });
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
      await page.getByRole('button', { name: 'Compare and choose' }).click();
      await page.getByRole('heading', { name: 'Changed elsewhere' }).waitFor();
      assert.deepEqual(await flow.names(), ['Theirs']);
      await lookAt('editor-conflict');
      await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
      await isSaved(page);
      assert.deepEqual(await flow.names(), ['Mine']);
    },
  );

  walk(
    'takes over a change made elsewhere while nothing is unsaved, and says so',
    'owner',
    async ({ page, weir, open }) => {
      const flow = await createFlow(weir, 'taken-over', [named('First')]);
      await open(flow.path);
      await step(page, /^First,/).waitFor();
      await flow.replace([named('Theirs')]);
      await comeBack(page);
      await step(page, /^Theirs,/).waitFor();
      const note = page.getByText('The draft was changed elsewhere, and is shown as it is now.');
      await note.waitFor();
      await page.getByRole('button', { name: 'Undo these changes' }).click();
      await step(page, /^First,/).waitFor();
      await note.waitFor({ state: 'detached' });

      // Who changed it is asked anew at each visit.
      await isSaved(page);
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await page.goBack();
      await step(page, /^First,/).waitFor();
      const asked = page.waitForRequest('**/audit-log?**');
      await flow.replace([named('Theirs')]);
      await comeBack(page);
      await asked;
    },
  );

  walk('shows the draft as published once changes are undone', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'as-published', [named('First')]);
    await flow.publish();
    await open(`${flow.path}?step=only`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Second');
    await isSaved(page);
    const undone = page.waitForResponse((one) => one.request().method() === 'PUT');
    await page.getByRole('button', { name: 'Undo: Change the name of First' }).click();
    await undone;
    await isSaved(page);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('The draft is the same as version 1').waitFor();
  });

  walk('keeps its page in place when a switch far down in a panel is turned on', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'switched', [llm('ask', '{{message}}', 'demo/chat')]);
    await open(`${flow.path}?step=ask`);
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Can call tools').click();
    await page.getByLabel('Rounds of tool calls, at most').waitFor();
    assert.equal(await page.evaluate("document.getElementById('main').scrollTop"), 0);
    assert.equal(
      await page.evaluate("document.getElementById('main').scrollHeight"),
      await page.evaluate("document.getElementById('main').clientHeight"),
    );
  });

  walk(
    'keeps the focus in a form whose step_id changes, and gives it back from a panel',
    'owner',
    async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createFlow(weir, 'focus', [named('First')]);
      await open(`${flow.path}?step=only`);
      const stepId = page.getByRole('textbox', { name: 'step_id' });
      await stepId.fill('renamed');
      await page.keyboard.press('Tab');
      await page.waitForURL(/step=renamed/);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('End');
      await page.keyboard.type('-twice');
      await page.keyboard.press('Enter');
      await page.waitForURL(/step=renamed-twice/);
      await page.keyboard.press('End');
      await page.keyboard.type('-more');
      assert.equal(await stepId.inputValue(), 'renamed-twice-more');

      const tryIt = page.getByRole('button', { name: 'Try it' });
      await tryIt.press('Enter');
      await page.getByRole('complementary', { name: 'Try it' }).and(page.locator(':focus')).waitFor();
      // The graph follows later, and takes the focus for its step when nothing else has it.
      await page.locator('[data-step="renamed-twice-more"]').waitFor();
      await drawFrames(page);
      await page.keyboard.press('Escape');
      await tryIt.and(page.locator(':focus')).waitFor();
    },
  );
});
