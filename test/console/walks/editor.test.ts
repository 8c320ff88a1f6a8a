import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Step } from '../../../flow/definition.ts';
import { passthrough } from '../../blocks.ts';
import { createScopedKey } from '../../scoped-key.ts';
import type { ConsoleWeir } from './console-weir.ts';
import { describeWalks } from './describe-walks.ts';

/** A flow of the demo project, read and changed by a client beside the console. */
async function createFlow(weir: ConsoleWeir, slug: string, steps: Step[]) {
  const { id: projectId } = await weir.db
    .selectFrom('project')
    .select('id')
    .where('slug', '=', 'demo')
    .executeTakeFirstOrThrow();
  const { key } = await createScopedKey(weir, projectId, 'deploy', 'read');
  const flows = `${weir.url}/api/v1/projects/${projectId}/flows`;
  async function send(method: string, path: string, body?: object) {
    const response = await fetch(`${flows}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'if-match': '*' },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return await response.json();
  }
  const { id } = (await send('POST', '', { name: slug, slug })) as { id: string };
  const flow = {
    path: `orgs/demo/projects/demo/flows/${slug}`,
    replace: (changed: Step[]) => send('PUT', `/${id}/draft`, { steps: changed }),
    names: async () => {
      const { steps: now } = (await send('GET', `/${id}/draft`)) as { steps: Step[] };
      return now.map(({ name }) => name);
    },
  };
  if (steps.length > 0) await flow.replace(steps);
  return flow;
}

const named = (name: string): Step => ({ ...passthrough('only'), name });
const step = (page: Page, name: RegExp) => page.getByRole('treeitem', { name });
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
      await step(page, /^Theirs,/).waitFor();
      await page.getByText('The draft was changed elsewhere, and is shown as it is now.').waitFor();
      await page.getByRole('button', { name: 'Undo these changes' }).click();
      await step(page, /^First,/).waitFor();
    },
  );
});
