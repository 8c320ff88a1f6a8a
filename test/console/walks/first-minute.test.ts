import assert from 'node:assert/strict';
import { describeWalks } from './describe-walks.ts';

describeWalks('the first minute in the console', (walk, walkApart) => {
  walkApart(
    'signs the owner in by the one-time link, which is gone from the address',
    'nobody',
    async ({ page, weir }) => {
      await page.goto(`${weir.url}/console/#one-time=${weir.identity.issueOneTimeSecret()}`);
      await page.getByRole('link', { name: 'Flows' }).waitFor();
      assert.equal(new URL(page.url()).hash, '');
      assert.equal(new URL(page.url()).pathname, '/console/orgs/demo/projects/demo');
    },
  );

  walkApart(
    'takes a one-time link once: opened again elsewhere, it asks for a password and says why',
    'nobody',
    async ({ page, weir }) => {
      const link = `${weir.url}/console/#one-time=${weir.identity.issueOneTimeSecret()}`;
      await page.goto(link);
      await page.getByRole('link', { name: 'Flows' }).waitFor();
      await page.context().clearCookies();
      await page.goto('about:blank');
      await page.goto(link);
      await page.getByLabel('Password').waitFor();
      await page.getByText('This link has been used').waitFor();
    },
  );

  walk('shows the demo flow and its last run', 'owner', async ({ page, open, lookAt }) => {
    await open('');
    await page.getByRole('link', { name: 'hello' }).first().waitFor();
    await lookAt('project');
  });

  walk('moves nothing when the next steps appear', 'owner', async ({ page, open }) => {
    const known = Promise.withResolvers<void>();
    await page.route('**/assistants', async (route) => {
      await known.promise;
      await route.continue();
    });
    await open('orgs/demo/projects/demo');
    const panels = page.getByRole('table');
    for (const name of ['Flows', 'Recent runs']) await page.getByRole('table', { name }).waitFor();
    const places = () => Promise.all([0, 1].map((index) => panels.nth(index).boundingBox()));
    const before = await places();
    known.resolve();
    await page.getByRole('heading', { name: /^What to do next/ }).waitFor();
    assert.deepEqual(await places(), before);
  });

  walk("keeps tokens out of the browser's storage", 'owner', async ({ page, open }) => {
    await open('orgs/demo/projects/demo');
    const stored: string = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    assert.doesNotMatch(stored, /eyJ|refresh|access_token/);
  });
});
