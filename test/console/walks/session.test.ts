import assert from 'node:assert/strict';
import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';
import { signIn } from './sign-in.ts';

const EMAIL = 'admin@weir.local';

describeWalks('a session in the console', (walk, walkApart) => {
  walkApart(
    'that has ended is opened again beside the page, which stays as it is',
    'nobody',
    async ({ page, weir, open, allow }) => {
      allow(/40[01]/);
      await signIn(page.context(), weir, EMAIL);
      await open('orgs/demo/projects/demo');
      await page.evaluate('globalThis.stays = true');
      const elsewhere = await page.context().newPage();
      await elsewhere.goto(`${weir.identity.issuer}/session/end`);
      await elsewhere.getByRole('button', { name: 'Sign out' }).click();
      await elsewhere.getByText('Signed out').waitFor();
      // The token lasts for an hour: from here on it is refused.
      let refused: string | undefined;
      await page.route('**/api/v1/**', async (route) => {
        const { authorization } = route.request().headers();
        refused ??= authorization;
        if (authorization !== refused) return route.continue();
        const detail = { code: 'UNAUTHENTICATED', message: 'The token has expired.' };
        return route.fulfill({ status: 401, json: { detail } });
      });
      await page.getByRole('link', { name: 'Runs' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      const [window] = await Promise.all([
        page.context().waitForEvent('page'),
        dialog.getByRole('button', { name: 'Sign in' }).click(),
      ]);
      await window.getByLabel('Email').fill(EMAIL);
      await window.getByLabel('Password').fill(new Map(weir.identity.passwords).get(EMAIL) ?? '');
      // The list of runs that has waited meanwhile.
      const answered = page.waitForResponse((one) => one.url().includes('/runs?') && one.ok());
      await Promise.all([
        window.waitForEvent('close'),
        window.getByRole('button', { name: 'Sign in' }).click(),
      ]);
      await dialog.waitFor({ state: 'hidden' });
      await answered;
      assert.equal(await page.evaluate('globalThis.stays'), true);
    },
  );

  walkApart(
    'that ends while a draft is not saved is opened again on the page that stays',
    'nobody',
    async (tour) => {
      const { page, weir, open, allow } = tour;
      allow(/503/);
      await signIn(page.context(), weir, 'owner@weir.local');
      const flow = await createFlow(weir, 'kept-at-sign-out', [code('only', 'return 1')]);
      await open(`${flow.path}?step=only`);
      await page.route('**/draft', (route) =>
        route.request().method() === 'PUT' ? route.fulfill({ status: 503 }) : route.continue(),
      );
      const name = page.getByRole('textbox', { name: 'Name', exact: true });
      await name.fill('Mine');
      await page.getByText('Not saved; trying again').waitFor();
      await page.getByRole('button', { name: 'Account' }).click();
      // The click may end only once the question is answered.
      await Promise.all([
        page.waitForEvent('dialog').then((asked) => asked.dismiss()),
        page.getByRole('menuitem', { name: 'Sign out' }).click(),
      ]);
      await page.unroute('**/draft');
      const ended = page.getByRole('dialog', { name: 'Your session has ended' });
      await ended.getByRole('button', { name: 'Leave this page' }).waitFor();
      assert.equal(await ended.getByRole('button', { name: 'Close' }).count(), 0);
      await ended.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      assert.deepEqual(await flow.names(), ['Mine']);
    },
  );

  walkApart('ends in every tab without asking again', 'nobody', async ({ page, weir, open }) => {
    await signIn(page.context(), weir, 'member@weir.local');
    await open('orgs/demo/projects/demo');
    const other = await page.context().newPage();
    await other.goto(`${weir.url}/console/`);
    await other.getByRole('heading', { level: 1 }).first().waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const tab of [page, other]) await tab.waitForURL(`${weir.url}/console/signed-out`);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByLabel('Password').waitFor();
  });

  walkApart(
    'that was cancelled can be started again at the wanted page',
    'nobody',
    async ({ page, weir }) => {
      const wanted = `${weir.url}/console/orgs/demo/usage?range=7d`;
      await page.goto(wanted);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('The sign-in was refused or cancelled.').waitFor();
      assert.equal(page.url(), wanted);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('Password').waitFor();
    },
  );

  walk('continues while the identity provider is too busy to renew it', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/status of (401|429)/);
    await open('orgs/demo/projects/demo');
    await page.route(`${weir.identity.issuer}/token`, (route) =>
      route.fulfill({
        status: 429,
        headers: { 'access-control-allow-origin': '*' },
        json: { error: 'temporarily_unavailable' },
      }),
    );
    const detail = { code: 'UNAUTHENTICATED', message: 'The token has expired.' };
    await page.route('**/api/v1/**', (route) => route.fulfill({ status: 401, json: { detail } }));
    await page.getByRole('link', { name: 'Runs' }).first().click();
    await page.getByText(detail.message).first().waitFor();
    assert.equal(await page.getByRole('dialog', { name: 'Your session has ended' }).count(), 0);
  });

  walkApart('cannot be opened with a wrong clock, and says so', 'nobody', async ({ page, weir }) => {
    await page.addInitScript('const now = Date.now; Date.now = () => now() + 30 * 86_400_000;');
    await page.goto(`${weir.url}/console/`);
    await page.getByLabel('Email').fill(EMAIL);
    await page.getByLabel('Password').fill(new Map(weir.identity.passwords).get(EMAIL) ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('the clock of this device differs').waitFor();
  });
});
