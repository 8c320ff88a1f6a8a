import assert from 'node:assert/strict';
import { code, llm } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks, type Walk } from './describe-walks.ts';
import { drawFrames } from './look-at.ts';

const KEYS = 'orgs/demo/projects/demo/keys';
const EDITOR = 'orgs/demo/projects/demo/flows/hello';

/** The buttons and links of a part of the page that are smaller on the screen than 24 pixels, read in the browser. */
const SMALL = `[...document.querySelectorAll('.react-flow button')]
  .filter((button) => { const { width, height } = button.getBoundingClientRect(); return width < 23.9 || height < 23.9; })
  .map((button) => button.getAttribute('aria-label'))`;

describeWalks('the console for assistive technology', (walk) => {
  walk('announces the new page with its tab, and its project', 'owner', async ({ page, open }) => {
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

  walk(
    'moves the focus to the page when the focused element is deleted',
    'owner',
    async ({ page, weir, open }) => {
      await createFlow(weir, 'to-delete', []);
      await open('orgs/demo/projects/demo');
      await page.getByRole('button', { name: 'Actions of to-delete' }).press('Enter');
      await page.getByRole('menuitem', { name: 'Delete …' }).press('Enter');
      await page.getByRole('button', { name: 'Delete flow' }).press('Enter');
      await page.getByRole('row', { name: /^to-delete/ }).waitFor({ state: 'detached' });
      await page.locator('#main:focus').waitFor();
    },
  );

  walk('returns the focus to the opener of two successive dialogs', 'owner', async ({ page, open }) => {
    await open(KEYS);
    const opener = page.getByRole('button', { name: 'New API key' });
    await opener.first().press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('for a program');
    await page.getByRole('button', { name: 'Create key' }).press('Enter');
    await page.getByRole('button', { name: 'I have copied it' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('button:focus', { hasText: 'New API key' }).waitFor();
  });

  walk(
    'gives the focus back to what opened an invitation, or a rotation',
    'owner',
    async ({ page, open }) => {
      await open('orgs/demo/settings/members');
      await page.getByRole('button', { name: 'Invite' }).press('Enter');
      await page.getByRole('textbox', { name: 'E-mail address' }).fill('new@weir.local');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Done' }).press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('button:focus', { hasText: 'Invite' }).waitFor();

      await open('orgs/demo/webhooks/secret');
      await page.getByRole('button', { name: 'Rotate …' }).press('Enter');
      await page.getByRole('button', { name: 'Rotate', exact: true }).press('Enter');
      await page.getByRole('button', { name: 'I have copied it' }).press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('button:focus', { hasText: 'Rotate …' }).waitFor();
    },
  );

  walk('keeps the focus in the page when filters are cleared', 'owner', async ({ page, open }) => {
    for (const [list, button] of [
      ['orgs/demo/settings/audit-log?actor=nobody', 'Clear'],
      ['orgs/demo/webhooks?status=pending', 'Clear'],
      ['orgs/demo/projects/demo/runs?status=failed', 'Clear'],
      ['orgs/demo/projects/demo/runs?status=failed', 'Clear the filters'],
    ] as const) {
      await open(list);
      const clear = page.getByRole('button', { name: button, exact: true });
      await clear.press('Enter');
      await clear.waitFor({ state: 'detached' });
      await page.locator('#main:focus, #main :focus').waitFor();
    }
  });

  walk('keeps the focus on the button that runs one step after the other', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(
      weir,
      'by-steps',
      ['a', 'b', 'c'].map((id) => code(id, 'return 1')),
    );
    await open(`${flow.path}?try=true`);
    const panel = page.getByRole('complementary', { name: 'Try it' });
    await panel.getByRole('textbox', { name: 'Message' }).fill('m');
    await panel.getByRole('button', { name: 'Step through' }).press('Enter');
    await panel.getByRole('button', { name: 'Run b' }).press('Enter');
    await panel.locator('button:focus:not([aria-disabled])', { hasText: 'Run c' }).waitFor();
    await page.keyboard.press('Enter');
    await panel.getByRole('heading', { name: 'Result' }).waitFor();
    await panel.locator('button:focus', { hasText: 'Step through' }).waitFor();
  });

  walk(
    'gives the focus of a try that is cancelled to what began it',
    'owner',
    async ({ page, weir, open }) => {
      const flow = await createFlow(weir, 'try-cancelled', [
        code('a', 'return 1'),
        llm('late', 'Say hello', 'demo/slow-600000'),
      ]);
      await open(`${flow.path}?try=true`);
      const panel = page.getByRole('complementary', { name: 'Try it' });
      await panel.getByRole('textbox', { name: 'Message' }).fill('m');
      for (const begin of ['Run', 'Step through']) {
        await panel.getByRole('button', { name: begin, exact: true }).press('Enter');
        await panel.getByText(begin === 'Run' ? 'Running' : 'Next', { exact: true }).waitFor();
        await panel.getByRole('button', { name: 'Cancel' }).press('Enter');
        const run = panel.getByRole('region', { name: 'Run' });
        await run.getByRole('status').getByText('Cancelled', { exact: true }).waitFor();
        await panel.locator('button:focus', { hasText: begin }).waitFor();
      }
    },
  );

  walk('moves the focus to the page when a run is cancelled', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'run-cancelled', [llm('late', 'Say hello', 'demo/slow-600000')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/run-cancelled/v1/jobs', request);
    await open(`${flow.path}/runs/${body.executionId}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Cancel the run' }).press('Enter');
    await page.getByRole('button', { name: 'Retry from the cancelled step' }).waitFor();
    await page.locator('#main:focus').waitFor();
    await page.getByText('Cancelled by').locator('..').getByText('you', { exact: true }).waitFor();
  });

  walk(
    'keeps the focus in the page when a session waits for results of tool calls',
    'owner',
    async (tour) => {
      const { page, open } = tour;
      const { path, executionId } = await startWaiting(tour, 'session-waits');
      await open(`${path}?fork=${executionId}&at=0&try=true`);
      await page.getByRole('button', { name: 'Run ask' }).press('Enter');
      await page.getByRole('button', { name: 'Send the result and continue' }).waitFor();
      await page.locator('#main:focus, #main :focus').waitFor();
    },
  );

  walk('moves the focus to the page when tool results are sent', 'owner', async (tour) => {
    const { page, open } = tour;
    const { path, executionId } = await startWaiting(tour, 'waits');
    await open(`${path}/runs/${executionId}`);
    await page.getByLabel('Result', { exact: true }).fill('42');
    await page.getByRole('button', { name: 'Send the result' }).press('Enter');
    await page.getByRole('heading', { name: 'Result', exact: true }).waitFor();
    await page.locator('#main:focus').waitFor();
  });

  walk('keeps the focus when a form without it disappears', 'owner', async (tour) => {
    const { page, open } = tour;
    const { path, executionId } = await startWaiting(tour, 'waits-unseen');
    await open(`${path}/runs/${executionId}`);
    await page.getByLabel('Result', { exact: true }).fill('42');
    await page.evaluate('document.activeElement.blur(); document.querySelector("main form").requestSubmit()');
    await page.getByRole('heading', { name: 'Result', exact: true }).waitFor();
    await drawFrames(page);
    assert.equal(await page.evaluate('document.activeElement === document.body'), true);
  });

  walk('keeps the focus on a button that is disabled after a press', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    await open('orgs/demo/settings');
    await page.getByLabel('Description').fill('changed');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.locator('button:focus[aria-disabled]', { hasText: 'Save' }).waitFor();
    await page.getByText('Saved.').waitFor();
    await page.locator('button:focus[aria-disabled]', { hasText: 'Save' }).waitFor();
    // As when the reader goes to another window.
    await page.evaluate(
      "document.activeElement.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))",
    );
    assert.equal(await page.locator('button:focus:enabled', { hasText: 'Save' }).count(), 1);
    await page.keyboard.press('Tab');
    await page.locator('button:disabled', { hasText: 'Save' }).waitFor();
    const flow = await createFlow(weir, 'to-undo', [code('a', 'return 1')]);
    await open(flow.path);
    await page.getByRole('treeitem', { name: /^a, / }).press('d');
    await page.getByRole('button', { name: /^Undo: / }).press('Enter');
    await page.locator('button:focus[aria-disabled][aria-label="Undo"]').waitFor();
  });

  walk('moves the focus to the page when a form has removed its opener', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'first-case', [code('a', 'return 1')]);
    await open(`${flow.path}/tests`);
    await page.getByRole('heading', { name: 'No test case yet' }).waitFor();
    await page.getByRole('main').getByRole('button', { name: 'New test case' }).press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('first');
    await page.getByRole('textbox', { name: 'Text' }).fill('1');
    await page.getByRole('button', { name: 'Create' }).press('Enter');
    await page.getByRole('table', { name: 'Test cases' }).waitFor();
    await page.locator('#main:focus').waitFor();
  });
});

/** Runs a flow of one block, `ask`, which waits for the result of a tool call. */
async function startWaiting({ weir }: Walk, slug: string) {
  const flow = await createFlow(weir, slug, [
    llm('ask', 'Use lookup', 'demo/chat', { processor_config: { tools_enabled: true } }),
  ]);
  await flow.publish();
  const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
  const request = { key: weir.demoKey, body: { message: 'm', tools } };
  const { body } = await weir.call('POST', `demo/demo/${slug}/v1/execute`, request);
  return { path: flow.path, executionId: body.executionId as string };
}
