import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { MCP_SCOPES } from '../../../api/auth/scopes.ts';
import { SCRIPT_CLIENT_ID } from '../../../dev/identity/client-ids.ts';
import type { Step } from '../../../flow/definition.ts';
import { passthrough } from '../../blocks.ts';
import { weirIn } from '../../cli/cli-harness.ts';
import type { ConsoleWeir } from './console-weir.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

const named = (name: string): Step => ({ ...passthrough('only'), name });
const nameField = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true });

/** Lets somebody else change the draft just before the page's first save reaches the service. */
async function beforeSave(page: Page, change: () => Promise<unknown>): Promise<void> {
  let isFirst = true;
  await page.route('**/draft', async (route) => {
    if (route.request().method() === 'PUT' && isFirst) {
      isFirst = false;
      await change();
    }
    await route.continue();
  });
}

/** Edits the draft as an assistant does, which signs in as the account of `weir token`. */
async function renameOverMcp(weir: ConsoleWeir, flowId: string, name: string): Promise<void> {
  const resource = `${weir.url}/api/v1/mcp/`;
  const answer = await fetch(`${weir.identity.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${SCRIPT_CLIENT_ID}:${weir.identity.scriptSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope: MCP_SCOPES.join(' ') }),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const client = new Client({ name: 'assistant', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { requestInit }));
  const { isError } = await client.callTool({
    name: 'update_block',
    arguments: { flow_id: flowId, step_id: 'only', name },
  });
  assert.ok(!isError);
  await client.close();
}

async function push(weir: ConsoleWeir, key: string, slug: string, name: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'weir-push-'));
  const file = path.join(folder, `${slug}.yaml`);
  await writeFile(file, JSON.stringify({ name: slug, slug, steps: [named(name)] }));
  const env = { PATH: process.env.PATH ?? '', WEIR_URL: weir.url, WEIR_API_KEY: key, XDG_STATE_HOME: folder };
  const { code, stderr } = await weirIn(env, ['flow', 'push', file, '--project', 'demo/demo', '--force']);
  assert.equal(code, 0, stderr);
  await rm(folder, { recursive: true });
}

describeWalks('a flow that is released', (walk, walkApart) => {
  walk('is published, put into production and rolled back', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'released', [named('First')]);
    await open(flow.path);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Note').fill('The first one');
    await page.getByRole('button', { name: 'Publish to production' }).click();
    await page.getByText('v1 in production').first().waitFor();

    await open(`${flow.path}?step=only`);
    await nameField(page).fill('Second');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('v1 in production').first().waitFor();

    await open(`${flow.path}/versions?version=2`);
    await page.getByRole('button', { name: 'Put into production' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Put into production' }).click();
    await page.getByText('v2 in production').first().waitFor();
    await open(`${flow.path}/versions?version=1`);
    await page.getByRole('button', { name: 'Roll back to it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('v1 in production').first().waitFor();
  });

  walk('is put into production before the page is up to date', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'promoted-first', [named('First')]);
    await open(flow.path);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.method()} ${request.url().split('/').at(-1)}`));
    const put = page.waitForRequest('**/production');
    await page.getByRole('button', { name: 'Publish to production' }).click();
    await put;
    const between = asked.slice(asked.indexOf('POST versions') + 1, asked.indexOf('PUT production'));
    assert.ok(!between.includes(`GET ${flow.id}`), asked.join(', '));
    await page.getByText('v1 in production').first().waitFor();
  });

  walk('is deleted after its slug is typed', 'owner', async ({ page, weir, open }) => {
    const flow = await createFlow(weir, 'to-be-deleted', [named('First')]);
    await open(flow.path);
    await page.getByRole('button', { name: 'More about this flow' }).click();
    await page.getByRole('menuitem', { name: 'Delete flow' }).click();
    await page.getByRole('textbox', { name: 'Type to-be-deleted to confirm' }).fill('to-be-deleted');
    await page.getByRole('button', { name: 'Delete flow' }).click();
    await page.getByText('The flow to-be-deleted is deleted.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
  });

  walk('says that it was deleted meanwhile, and shows the unsaved draft', 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/404/);
    const flow = await createFlow(weir, 'deleted-meanwhile', [named('First')]);
    await open(`${flow.path}?step=only`);
    await beforeSave(page, () =>
      weir.db.updateTable('flow').set({ deleted_at: new Date() }).where('id', '=', flow.id).execute(),
    );
    await nameField(page).fill('Not saved');
    await page.getByText('a deleted flow cannot be restored').waitFor();
    await page.getByText('name: Not saved').waitFor();
    const offered = page.getByRole('main').getByRole('button', { name: /Undo|Publish|Try|More about/ });
    assert.equal(await offered.count(), 0);
    await page.getByRole('link', { name: 'All flows' }).click();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
  });

  walk('has no actions for a missing version', 'owner', async ({ page, weir, open, allow }) => {
    allow(/404/);
    const flow = await createFlow(weir, 'one-version', [named('First')]);
    await flow.publish();
    await open(`${flow.path}/versions?version=99`);
    const version = page.getByRole('region', { name: 'Version 99' });
    await version.getByText('The flow has no published version 99').waitFor();
    const buttons = version.getByRole('button', { name: /production|Restore|Compare/ });
    assert.equal(await buttons.count(), 0);
  });

  walk(
    'keeps the buttons of a dialog in their place while what changes is fetched',
    'owner',
    async (tour) => {
      const { page, weir, open } = tour;
      const flow = await createFlow(weir, 'steady', [named('First')]);
      await flow.publish();
      await flow.replace([named('Second')]);
      const shown = Promise.withResolvers<void>();
      await page.route('**/difference?*', async (route) => {
        await shown.promise;
        await route.continue();
      });
      await open(flow.path);
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      const publish = page.getByRole('button', { name: 'Publish to production' });
      const place = await publish.boundingBox();
      shown.resolve();
      await page.getByText('name: First → Second').waitFor();
      await page.getByRole('dialog').getByText('processor_type').first().waitFor();
      assert.deepEqual(await publish.boundingBox(), place);
    },
  );

  walk(
    'tells a receiver of its run, and shows what it was told',
    'owner',
    async ({ page, weir, open, lookAt }) => {
      const [hook] = weir.hooks;
      assert.ok(hook);
      const answer = await fetch(`${weir.url}/api/v1/seq/demo/demo/hello/jobs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${weir.demoKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'rivers', callbackUrl: `https://${hook.host}/hook` }),
      });
      const { executionId } = (await answer.json()) as { executionId: string };
      await open(`orgs/demo/projects/demo/flows/hello/runs/${executionId}`);
      await page.getByRole('link', { name: 'flow.completed' }).click();
      await page.getByRole('heading', { level: 1, name: /^Delivery / }).waitFor();
      await page.getByText('Delivered').first().waitFor();
      await page.getByText(executionId).first().waitFor();
      await lookAt('delivery');
    },
  );

  for (const [way, change] of [
    ['by weir flow push', (weir, flow) => push(weir, flow.key, 'edited-by-push', 'Theirs')],
    ['over MCP', (weir, flow) => renameOverMcp(weir, flow.id, 'Theirs')],
  ] as [string, (weir: ConsoleWeir, flow: { id: string; key: string }) => Promise<void>][])
    walk(`shows the conflict when it is edited ${way} meanwhile`, 'owner', async (tour) => {
      const { page, weir, open, allow } = tour;
      const flow = await createFlow(weir, `edited-${way.includes('push') ? 'by-push' : 'over-mcp'}`, [
        named('First'),
      ]);
      allow(/status of 412/);
      await open(`${flow.path}?step=only`);
      await beforeSave(page, () => change(weir, flow));
      await nameField(page).fill('Mine');
      await page.getByRole('button', { name: 'Compare and choose' }).waitFor();
      assert.deepEqual(await flow.names(), ['Theirs']);
    });

  walkApart('shows what somebody else publishes, and puts into production', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'published-elsewhere', [named('First')]);
    await page.clock.install();
    await open(`${flow.path}/versions`);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { name: 'Publish version 1' }).waitFor();
    await flow.publish();
    // The page asks for the flow and its versions every five seconds.
    await page.clock.fastForward(5_000);
    await page.getByRole('heading', { name: 'Publish version 2' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Version 1' }).waitFor();
    await weir.db.updateTable('flow').set({ production_version: 1 }).where('id', '=', flow.id).execute();
    await page.clock.fastForward(5_000);
    await page.getByText('v1 in production').waitFor();
  });
});
