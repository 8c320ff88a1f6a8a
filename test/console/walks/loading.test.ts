import assert from 'node:assert/strict';
import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

describeWalks('a console part that cannot be loaded', (walk) => {
  walk('has a frame in its place until scripts and styles have come', 'owner', async ({ page, weir }) => {
    const asked = Promise.withResolvers<void>();
    await page.route('**/assets/**', async (route) => {
      await asked.promise;
      await route.continue();
    });
    await page.goto(`${weir.url}/console/`, { waitUntil: 'commit' });
    await page.getByRole('status').getByText('Loading …').waitFor();
    // Drawn: a page waits for a stylesheet above the frame.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))');
    assert.ok(await page.evaluate("performance.getEntriesByName('first-contentful-paint').length > 0"));
    asked.resolve();
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  walk('is reported in its place, and loaded on retry', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/ERR_FAILED/);
    const flow = await createFlow(weir, 'not-loaded', [code('a', 'return 1')]);
    await flow.publish();
    await flow.replace([code('a', 'return 2')]);
    const again = page.getByRole('button', { name: 'Try again' });

    await page.route('**/create-difference-*.js', (route) => route.abort(), { times: 1 });
    await open(`${flow.path}/versions?version=draft&compare=1`);
    await page.getByText(/The difference could not be loaded.*reload the page/).waitFor();
    await again.click();
    await page.getByText('return 2').first().waitFor();
    await again.waitFor({ state: 'detached' });

    await page.route('**/create-editor-*.js', (route) => route.abort(), { times: 1 });
    await open(`${flow.path}?step=a`);
    await page
      .getByText(/The editor could not be loaded.*reload the page/)
      .first()
      .waitFor();
    await page.locator('textarea').getByText('return 2').fill('return 3');
    await page.getByText('Saved', { exact: true }).waitFor();
    await again.first().click();
    await page.locator('.cm-content').getByText('return 3').waitFor();
  });

  walk('may be a page, which is loaded again with its parts', 'owner', async ({ page, open, allow }) => {
    allow(/ERR_FAILED|could not be loaded|preload CSS/);
    await open('orgs/demo/projects/demo');
    await page.route('**/usage-page-*.css', (route) => route.abort());
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('A part of the console could not be loaded.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });

  walk('may be the script, for which the page itself suggests reloading', 'owner', async (tour) => {
    const { page, weir, allow } = tour;
    allow(/404/);
    await page.route('**/assets/index-*', (route) => route.fulfill({ status: 404 }));
    await page.goto(`${weir.url}/console/`);
    await page.getByText('The console has not loaded yet.').waitFor();
    await page.unrouteAll();
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await page.getByText('The console has not loaded yet.').count(), 0);
  });

  walk('may be a response that was cut off, which is requested again', 'owner', async ({ page, open }) => {
    let asked = 0;
    await page.route('**/deliveries?**', async (route) => {
      asked += 1;
      await route.fulfill({ status: 200, contentType: 'application/json', body: '{"deliveries":[{"id":"a' });
    });
    await open('orgs/demo/webhooks');
    await page.getByText('The response was cut off. Try again.').waitFor();
    assert.ok(asked > 1, `asked ${asked} times`);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The response was cut off. Try again.').waitFor({ state: 'detached' });
  });

  walk('may be the user, who is requested again on retry', 'owner', async (tour) => {
    const { page, open, allow } = tour;
    allow(/status of 500|It failed/);
    const detail = { code: 'INTERNAL_ERROR', message: 'It failed.' };
    await page.route('**/api/v1/me', (route) => route.fulfill({ status: 500, json: { detail } }));
    await open('orgs/demo/usage');
    await page.getByText('It failed.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });
});
