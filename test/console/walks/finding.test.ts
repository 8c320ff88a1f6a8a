import assert from 'node:assert/strict';
import type { FileChooser } from 'playwright-core';
import { code } from '../../blocks.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

describeWalks('what users of the console look for', (walk) => {
  walk('is found by its name on every page, with Ctrl+K', 'owner', async ({ page, weir, open, lookAt }) => {
    await createFlow(weir, 'rivers', [code('a', 'return 1')]);
    await open('orgs/demo/usage');
    const finder = page.getByRole('dialog', { name: 'Go to' });
    const go = async (text: string, found: RegExp) => {
      await page.keyboard.press('ControlOrMeta+k');
      await finder.getByRole('searchbox').fill(text);
      await finder.getByRole('option').filter({ hasNotText: found }).first().waitFor({ state: 'detached' });
      await finder.getByRole('option', { name: found }).click();
    };
    await go('river', /^rivers/);
    await page.waitForURL(/\/flows\/rivers/);
    await go('audit', /^Audit log/);
    await page.waitForURL(/\/settings\/audit-log/);
    const { execution_id: id } = await weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('organization_id', '=', weir.organizationId)
      .where('continues', 'is', null)
      .executeTakeFirstOrThrow();
    await go(id, RegExp(`^Run ${id.slice(-8)}`));
    await page.waitForURL(RegExp(`/runs/${id}`));
    await open('orgs/demo/usage');
    // Pages show the end of an id.
    await go(id.slice(-5), RegExp(`^Run ${id.slice(-8)}`));
    await page.waitForURL(RegExp(`/runs/${id}`));
    await page.getByRole('button', { name: 'Find' }).click();
    await finder.waitFor();
    const modal = 'document.querySelector("[role=dialog]").parentElement';
    assert.equal(await page.evaluate(`${modal}.scrollHeight - ${modal}.clientHeight`), 0);
    await lookAt('finder');
    await page.keyboard.press('Escape');
    await finder.waitFor({ state: 'detached' });
  });

  walk('is an action too, which opens its page with its dialog', 'owner', async ({ page, weir, open }) => {
    const { path } = await createFlow(weir, 'brooks', [code('a', 'return 1')]);
    await open('orgs/demo/usage');
    const finder = page.getByRole('dialog', { name: 'Go to' });
    const act = async (text: string, action: string, dialog: string | RegExp) => {
      await page.keyboard.press('ControlOrMeta+k');
      await finder.getByRole('searchbox').fill(text);
      await finder.getByRole('option', { name: action }).click();
      await page.getByRole('dialog', { name: dialog }).waitFor();
      await page.waitForURL((url) => !url.search.includes('open='));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await act('import', 'Import a flow from a file', 'Import a flow');
    await act('api key', 'New API key', /API key/);
    await act('project', 'New project', 'New project');
    await act('invite', 'Invite a member', 'Invite somebody');
    await act('rotate', 'Rotate the webhook secret', 'Rotate the signing secret?');
    await open(`${path}?step=a`);
    await act('publish', 'Publish the draft', /^Publish version/);
    await page.waitForURL(/step=a/);
    await act('duplicate', 'Duplicate the flow', /^Duplicate /);
    await act('test case', 'New test case', /test case/);
    const downloads = page.waitForEvent('download');
    await page.keyboard.press('ControlOrMeta+k');
    await finder.getByRole('searchbox').fill('export');
    await finder.getByRole('option', { name: 'Export the flow to a file' }).click();
    assert.equal((await downloads).suggestedFilename(), 'brooks.yaml');
  });

  walk('is a flow to begin with: a copy, a file or an example', 'owner', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const flow = await createFlow(weir, 'lakes', [code('a', 'return "of the lakes"')]);
    await open(flow.path);
    const choose = async (action: string) => {
      await page.getByRole('button', { name: 'More about this flow' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await choose('Duplicate');
    await page.getByRole('button', { name: 'Create flow' }).click();
    await page.waitForURL(/\/flows\/lakes-copy/);
    await page.getByRole('treeitem', { name: /^a,/ }).waitFor();

    const downloads = page.waitForEvent('download');
    await choose('Download as a file');
    const file = await (await downloads).path();
    await open('orgs/demo/projects/demo');
    await page.getByRole('button', { name: 'New flow' }).click();
    await page.getByRole('button', { name: 'Begin with' }).click();
    await page.getByRole('option', { name: 'A flow file' }).click();
    const chooseFile = async (file: Parameters<FileChooser['setFiles']>[0]) => {
      const choosers = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Choose a file' }).click();
      await (await choosers).setFiles(file);
    };
    await chooseFile(file);
    await page.getByText('lakes (copy): 1 step').waitFor();
    // A file that holds no flow does not leave the one before in its place.
    await chooseFile({ name: 'notes.json', mimeType: 'application/json', buffer: Buffer.from('"none"') });
    await page.getByText('notes.json holds no steps.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Create flow' }).isEnabled(), false);
    await chooseFile(file);
    await page.getByText('lakes (copy): 1 step').waitFor();
    await page.getByRole('textbox', { name: 'Slug' }).fill('lakes-again');
    await page.getByRole('button', { name: 'Create flow' }).click();
    await page.waitForURL(/\/flows\/lakes-again/);
    await page.getByRole('treeitem', { name: /^a,/ }).waitFor();

    const { organizationId } = weir;
    const project = { organization_id: organizationId, slug: 'without-flows', name: 'Without flows' };
    await weir.db.insertInto('project').values(project).execute();
    await open('orgs/demo/projects/without-flows');
    await page.getByText('Or begin with an example').waitFor();
    await lookAt('examples');
    await page.getByRole('button', { name: /^Support reply/ }).click();
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Support reply');
    await page.getByRole('button', { name: 'Create flow' }).click();
    await page.getByRole('treeitem', { name: /^Draft a reply,/ }).waitFor();
  });
});
