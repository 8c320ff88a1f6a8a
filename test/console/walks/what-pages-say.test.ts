import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Step } from '../../../flow/definition.ts';
import { code, llm } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

const PROJECT = 'orgs/demo/projects/demo';
const NARROW = { width: 390, height: 844 };

/** Fails when a part reaches beyond the element that shows it. */
async function isWithin(part: Locator, whole: Locator): Promise<void> {
  const [inner, outer] = [await part.boundingBox(), await whole.boundingBox()];
  assert.ok(inner && outer && inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width);
}

describeWalks('what pages of the console say', (walk, walkApart) => {
  walk('has a heading and a title where there is no such flow', 'member', async ({ page, open }) => {
    await open(`${PROJECT}/flows/none`);
    await page.getByRole('heading', { name: 'No such flow' }).waitFor();
    assert.equal(await page.title(), 'Flow · Weir');
  });

  walk('of a run names a block that it does not have', 'member', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'one-block', [code('a', 'return 1')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/one-block/v1/execute', request);
    await open(`${flow.path}/runs/${body.executionId}?block=b`);
    await page.getByText('The block b was not executed by this run.').waitFor();
    await page.getByRole('treeitem', { name: /^a, / }).click();
    await page.getByRole('heading', { level: 2, name: 'a', exact: true }).waitFor();
    assert.equal(await page.getByText('is not among').count(), 0);
  });

  walk('of a run names the price of a model that is in no list', 'member', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createFlow(weir, 'unlisted', [llm('ask', 'x', 'demo/usage-cached')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/unlisted/v1/execute', request);
    await open(`${flow.path}/runs/${body.executionId}`);
    await page.getByText('demo/usage-cached is in no list of models. ').waitFor();
    await lookAt('run-unlisted-model');
  });

  walk('of the usage counts the tokens written to a cache', 'member', async ({ page, open, lookAt }) => {
    await page.route('**/usage?**', async (route) => {
      const response = await route.fetch();
      const { total, ...rest } = await response.json();
      const counted = { ...total, cachedTokens: 9_000, cacheWriteTokens: 600, reasoningTokens: 40 };
      await route.fulfill({ response, json: { ...rest, total: counted } });
    });
    await open('orgs/demo/usage');
    await page.getByText('9K · 600', { exact: true }).waitFor();
    await lookAt('usage-caches');
  });

  walk('before a run is cancelled does not call both buttons Cancel', 'member', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'to-keep', [code('a', 'return 1'), code('b', 'return 2')]);
    await flow.publish();
    // A session waits for its next step.
    const answer = await fetch(`${weir.url}/api/v1/seq/demo/demo/to-keep/v1/step`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.demoKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ executionId: null, stepIndex: 0, message: 'm' }),
    });
    const [, id] = /"executionId":"([\w-]+)"/.exec(await answer.text()) ?? [];
    await open(`${flow.path}/runs/${id}`);
    await page.getByRole('treeitem', { name: /^Run, Waiting for the next call, / }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this run?' });
    assert.deepEqual(await dialog.getByRole('button').allTextContents(), ['', 'Keep it', 'Cancel the run']);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('treeitem', { name: /^Run, Waiting for the next call, / }).waitFor();
  });

  walk('counts one branch and one step as one', 'member', async ({ page, weir, open }) => {
    const one: Step = { type: 'parallel', step_id: 'p', name: 'p', branches: { b: [code('a', 'return 1')] } };
    const flow = await createFlow(weir, 'only-one', [one]);
    await open(flow.path);
    await page.getByRole('treeitem', { name: 'p, parallel step with 1 branch' }).waitFor();
    await page.getByText('1 branch at the same time').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('The first version of this flow. Steps: 2.').waitFor();
  });

  walk('of the end of a signing secret is a sentence', 'owner', async ({ page, open }) => {
    await open('orgs/demo/webhooks/secret');
    await page.getByRole('button', { name: 'Rotate …' }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    const said = page.getByText('The previous one ends');
    assert.match((await said.textContent()) ?? '', /ends in (?:1 day|23 hr\.), and signs too until then\.$/);
  });

  walk('names roles, and the signing secret in the audit log', 'owner', async ({ page, open }) => {
    await open('orgs/demo/webhooks/secret');
    await page.getByRole('button', { name: 'Rotate …' }).waitFor();
    await open('orgs/demo/settings/audit-log');
    await page.getByRole('link', { name: 'Webhook secret' }).first().waitFor();
    await page.getByRole('button', { name: 'Only Created the webhook secret' }).first().click();
    await page.waitForURL(/action=webhook_secret\.create/);
    await page.getByRole('button', { name: 'Action' }).getByText('Created the webhook secret').waitFor();
    await open('orgs/demo/settings/members');
    const own = page.getByRole('row').filter({ hasText: 'Leave' });
    await own.getByText('Owner', { exact: true }).waitFor();
  });

  walk('of recovered deliveries matches the choice', 'owner', async ({ page, open }) => {
    await page.route('**/webhooks/recover', (route) =>
      route.fulfill({ json: { recovered: 1_000, hasMore: true, nextCursor: 'next' } }),
    );
    await open('orgs/demo/webhooks');
    await page.getByRole('button', { name: 'Recover …' }).click();
    await page.getByRole('button', { name: 'Send them again' }).click();
    await page.getByRole('button', { name: 'Send the next ones' }).waitFor();
    await page.getByRole('button', { name: /Created within/ }).click();
    await page.getByRole('option', { name: 'Last 24 hours' }).click();
    await page.getByRole('button', { name: 'Send them again' }).waitFor();
    assert.equal(await page.getByText('There are more.').count(), 0);
  });

  walk('of a run that could not be forked disappears with the next run', 'member', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/404/);
    const flow = await createFlow(weir, 'not-forked', [code('a', 'return 1')]);
    await open(`${flow.path}?fork=6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34&at=0&try=true`);
    const panel = page.getByRole('complementary', { name: 'Try it' });
    await panel.getByRole('alert').waitFor();
    await panel.getByLabel('Message').fill('m');
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    await panel.getByText('Completed').first().waitFor();
    assert.equal(await panel.getByRole('alert').count(), 0);
  });

  walkApart('of an unreachable service disappears once it is back', 'owner', async (tour) => {
    const { page, open, allow } = tour;
    allow(/ERR_FAILED/);
    await page.clock.install();
    await open('orgs/demo/settings');
    await page.getByLabel('Description').fill('typed meanwhile');
    await page.route('**/api/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Save' }).click();
    const note = page.getByText('The service cannot be reached.');
    await note.first().waitFor();
    await page.unrouteAll();
    // What the page shows is asked for again after ten seconds.
    await page.clock.fastForward(10_000);
    await note.first().waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Description').inputValue(), 'typed meanwhile');
  });

  walk('fits a narrow window, and a panel, even with long names', 'member', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'n'.repeat(63), []);
    await open(flow.path);
    await page.getByRole('complementary', { name: 'Details' }).waitFor();
    await isWithin(
      page.getByRole('heading', { level: 2 }).filter({ hasText: /^n+$/ }),
      page.getByRole('complementary', { name: 'Details' }),
    );
    await page.setViewportSize(NARROW);
    await open(PROJECT);
    const table = page.getByRole('table', { name: 'Flows' });
    await isWithin(table.getByText(/^n+$/).nth(1), page.getByRole('main'));
    const none = { deliveries: [], hasMore: false, nextCursor: null };
    await page.route('**/deliveries?**', (route) => route.fulfill({ json: none }));
    await open('orgs/demo/webhooks');
    await isWithin(page.getByText('Submit a run with POST'), page.getByRole('main'));
    await isWithin(page.getByText('Your receiver runs on this machine?'), page.getByRole('main'));
    const command = page.getByRole('region', { name: 'the command' });
    await isWithin(command, page.getByRole('main'));
    // All of it is read without scrolling, beside the button that copies it.
    const size = `const { scrollWidth, clientWidth } = document.querySelector('[aria-label="the command"] pre');`;
    assert.equal(await page.evaluate(`{ ${size} scrollWidth > clientWidth }`), false);
  });

  walk(
    'offers no field of its own for a parameter beside a number that would change',
    'owner',
    async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createFlow(weir, 'long-number', [code('a', 'return parameters.language')]);
      await open(`${flow.path}?try=true`);
      const field = page.getByLabel('Parameter language');
      await field.waitFor();
      await page.getByText('Parameters as JSON', { exact: true }).click();
      await page.getByRole('textbox', { name: 'Parameters' }).click();
      await page.keyboard.insertText('{ "id": 12345678901234567890 }');
      await field.waitFor({ state: 'detached' });
    },
  );

  walk('of a missing run is what may have happened to it', 'owner', async ({ page, open, allow }) => {
    allow(/404/);
    await open('orgs/demo/projects/demo/flows/hello/runs/6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34');
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
  });
});
