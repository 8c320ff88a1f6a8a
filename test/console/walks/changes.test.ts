import assert from 'node:assert/strict';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { changeDeliveries, recordDeliveries } from '../../api/webhooks/deliveries-fixture.ts';
import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

const PROJECT = 'orgs/demo/projects/demo';

/** Collects what the page posts to the service from now on, by the last names of the addresses. */
function listPosts(page: Page): string[] {
  const posts: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === 'POST' && pathname.startsWith('/api/')) posts.push(path.basename(pathname));
  });
  return posts;
}

/** Lets the service carry out the first POST requests to such an address, and the page see no answer. */
async function loseAnswers(page: Page, address: string, count: number): Promise<void> {
  let left = count;
  await page.route(address, async (route) => {
    if (left === 0 || route.request().method() !== 'POST') return route.fallback();
    left -= 1;
    await route.fetch();
    await route.abort();
  });
}

describeWalks('a change in the console', (walk, walkApart) => {
  walk('is made once when its button is pressed twice', 'owner', async ({ page, weir, open }) => {
    const posts = listPosts(page);
    const flow = await createFlow(weir, 'pressed-twice', [code('a', 'throw new Error("no");')]);
    await open(flow.path);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('button', { name: 'Publish to production' }).dblclick();
    await page.getByText('v1 in production').first().waitFor();

    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body: run } = await weir.call('POST', 'demo/demo/pressed-twice/execute', request);
    await open(`${flow.path}/runs/${run.executionId}`);
    await page.getByRole('button', { name: 'Retry from the failed step' }).dblclick();
    await page.getByText('The run is being retried.').waitFor();

    await open(`${PROJECT}/keys`);
    await page.getByRole('button', { name: 'New API key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('pressed twice');
    await page.getByRole('button', { name: 'Create key' }).dblclick();
    await page.getByRole('button', { name: 'I have copied it' }).click();

    const [hook] = weir.hooks;
    await open('orgs/demo/webhooks');
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('dialog').getByLabel('Receiver').fill(`https://${hook?.host}/hook`);
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).dblclick();
    await page.getByRole('heading', { level: 1, name: /^Delivery / }).waitFor();
    assert.deepEqual(posts, ['versions', 'retry', 'api-keys', 'test']);
  });

  walkApart('is not made by the double click that opens its dialog', 'owner', async ({ page, open }) => {
    const made: string[] = [];
    page.on('request', (request) => request.method() === 'DELETE' && made.push(request.url()));
    await page.clock.install();
    await open(`${PROJECT}/keys`);
    const opener = page.getByRole('button', { name: /^Revoke / }).first();
    const dialog = page.getByRole('dialog', { name: /^Revoke / });
    await opener.dblclick();
    const { x, y } =
      (await dialog.getByRole('button', { name: 'Revoke key' }).boundingBox()) ?? assert.fail();
    await page.keyboard.press('Escape');
    await opener.click();
    // As in a window where the dialog has this button in the place of its opener.
    await page.mouse.move(x + 5, y + 5);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await page.clock.runFor(300); // React Aria would make a click of its own after 80 ms.
    await page.mouse.click(5, 5);
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(made, []);
  });

  walk('whose response is lost may have been made, and is shown then', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/ERR_FAILED/);
    const flow = await createFlow(weir, 'lost-version', [code('a', 'return 1')]);
    await open(flow.path);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await loseAnswers(page, '**/versions', 1);
    await page.getByRole('button', { name: 'Publish to production' }).click();
    await page.getByRole('dialog').getByText('No response came, so the change may have been made.').waitFor();
    await page.getByText('The draft is the same as version 1').waitFor();

    await open(`${PROJECT}/keys`);
    await page.getByRole('button', { name: 'New API key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('lost key');
    await loseAnswers(page, '**/api-keys', 1);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog').getByText('Check before you try again.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('cell', { name: /^lost key/ }).waitFor();
  });

  walk('that starts a run starts no second one after a lost response', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/ERR_FAILED/);
    const flow = await createFlow(weir, 'lost-retry', [code('a', 'throw new Error("no");')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body: run } = await weir.call('POST', 'demo/demo/lost-retry/v1/execute', request);
    await open(`${flow.path}/runs/${run.executionId}`);
    await loseAnswers(page, '**/retry', 3);
    await page.getByRole('button', { name: 'Retry from the failed step' }).click();
    await page.getByText('the run may have started').waitFor();
    await page.getByRole('button', { name: 'Retry from the failed step' }).click();
    await page.getByText('The run is being retried.').waitFor();
    const { body } = await weir.call('GET', 'demo/demo/lost-retry/runs?mode=jobs', { key: weir.demoKey });
    assert.equal(body.runs.length, 1);

    await open(`${flow.path}?try=true`);
    await page.getByRole('textbox', { name: 'Message' }).fill('m');
    await loseAnswers(page, '**/draft/runs', 3);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Not known', { exact: true }).waitFor();
    await page.getByText('the run may have started').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Run' }).getByText('Credits').count(), 0);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Run' }).getByText('Failed').first().waitFor();
    const { body: tries } = await weir.call('GET', 'demo/demo/lost-retry/runs', { key: weir.demoKey });
    assert.equal(tries.runs.filter(({ version }: { version: number }) => version === 0).length, 1);
  });

  /** Leaves the changes at an address without an answer; `press` sends one in a dialog. */
  async function leaveUnanswered({ page }: { page: Page }, address: string) {
    await page.clock.install();
    await page.route(address, (route) => route.request().method() !== 'POST' && route.fallback());
    const dialog = page.getByRole('dialog');
    const press = async (opens: string, sends: string) => {
      await page.getByRole('button', { name: opens }).first().click();
      await dialog.getByLabel('Name').fill('no answer');
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      await page.getByRole('button', { name: sends }).click();
      await sent;
    };
    const giveUp = async () => {
      await page.clock.fastForward('02:00');
      await dialog.getByText('No response came, so the change may have been made.').waitFor();
    };
    return { dialog, press, giveUp };
  }

  walkApart('without a response is aborted, and its dialog can be closed before', 'owner', async (tour) => {
    const { page, open } = tour;
    await open(PROJECT);
    const { dialog, press, giveUp } = await leaveUnanswered(tour, '**/flows');
    await press('New flow', 'Create flow');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('closed before the response came').waitFor();
    await press('New flow', 'Create flow');
    await giveUp();
  });

  walk('that succeeds after its dialog was closed is shown without navigation', 'owner', async (tour) => {
    const { page, open } = tour;
    await open(PROJECT);
    const closed = Promise.withResolvers<void>();
    await page.route('**/flows', async (route) => {
      if (route.request().method() === 'POST') await closed.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'New flow' }).click();
    const dialog = page.getByRole('dialog', { name: 'New flow' });
    await dialog.getByLabel('Name').fill('Late flow');
    await dialog.getByRole('button', { name: 'Create flow' }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New flow' }).click();
    await dialog.getByLabel('Name').fill('Another');
    closed.resolve();
    const row = page.getByRole('row', { name: /Late flow/, includeHidden: true });
    await row.waitFor({ state: 'attached' });
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Another');
    assert.equal(new URL(page.url()).pathname, `/console/${PROJECT}`);
  });

  for (const [subject, press] of [
    ['a test case', ['New test case']],
    ['the name of a flow', ['More about this flow', 'Name and description']],
  ] as const)
    walk(`of ${subject} closes no other dialog when its response is late`, 'owner', async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createFlow(weir, `late-${press.length}`, [code('a', 'return 1')]);
      await open(`${flow.path}/tests`);
      const closed = Promise.withResolvers<void>();
      await page.route(/\/flows\/[^/]+(\/test-cases)?$/, async (route) => {
        if (route.request().method() !== 'GET') await closed.promise;
        await route.continue();
      });
      const dialog = page.getByRole('dialog');
      async function fill(name: string) {
        for (const label of press)
          await page
            .getByRole('button', { name: label })
            .or(page.getByRole('menuitem', { name: label }))
            .click();
        await dialog.getByLabel('Name', { exact: true }).fill(name);
      }
      await fill('Saved late');
      if (press.length === 1) await dialog.getByRole('textbox', { name: 'Text' }).fill('weir');
      await dialog.getByRole('button', { name: /^(Create|Save)$/ }).click();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await fill('Typed meanwhile');
      closed.resolve();
      await page.locator('h1, td').filter({ hasText: 'Saved late' }).first().waitFor();
      assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'Typed meanwhile');
    });

  walkApart(
    'whose response is shown only once keeps its dialog open until it is aborted',
    'owner',
    async (tour) => {
      const { page, open } = tour;
      await open(`${PROJECT}/keys`);
      const { dialog, press, giveUp } = await leaveUnanswered(tour, '**/api-keys');
      await press('New API key', 'Create key');
      await page.keyboard.press('Escape');
      for (const name of ['Close', 'Cancel'])
        assert.equal(await dialog.getByRole('button', { name }).isDisabled(), true, name);
      await giveUp();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    },
  );

  walk('that recovers deliveries finds dead letters most of a day old', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const ids = await recordDeliveries(weir, weir, 1);
    const createdAt = new Date(Date.now() - 30 * 3_600_000);
    await changeDeliveries(weir, ids, { status: 'dead_letter', created_at: createdAt });
    await open('orgs/demo/webhooks');
    await page.getByRole('button', { name: 'Recover' }).click();
    const dialog = page.getByRole('dialog', { name: 'Recover deliveries' });
    await dialog.getByText('Created within').waitFor();
    await dialog.getByRole('button', { name: 'Send them again' }).click();
    await dialog.getByText('Being sent again: 1.').waitFor();
  });
});
