// Pages that are open while others change what they show, and pages whose next answer is late or fails.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Locator } from 'playwright-core';
import { CANCELLED } from '../../../flow/run.ts';
import { code, llm } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import type { ConsoleWeir } from './console-weir.ts';
import { createFlow } from './create-flow.ts';
import { describeWalks } from './describe-walks.ts';

const PROJECT = 'orgs/demo/projects/demo';

describeWalks('what the console shows while data changes', (walk, walkApart) => {
  walk("of a flow's last run is cancelled, not failed", 'member', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'was-cancelled', [code('a', 'return 1')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/was-cancelled/v1/execute', request);
    await weir.db
      .updateTable('run')
      .set({ status: 'failed', result: null, error: JSON.stringify(CANCELLED) })
      .where('execution_id', '=', body.executionId)
      .execute();
    await open(PROJECT);
    await page
      .getByRole('table', { name: 'Flows' })
      .getByRole('row', { name: /was-cancelled/ })
      .getByText('Cancelled', { exact: true })
      .waitFor();
  });

  walk('of test cases is their last result, even after the test run is closed', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'closed-early', [code('a', 'return "weir"')]);
    await sql`insert into test_case (flow_id, name, input, expectation)
      values (${flow.id}, 'says weir', '{"message":"m"}', '{"type":"contains","text":"weir"}')`.execute(
      weir.db,
    );
    // The test run never ends as far as its panel can see.
    await page.route('**/test-runs/*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), status: 'started' } });
    });
    await open(`${flow.path}/tests`);
    const row = page.getByRole('table', { name: 'Test cases' }).getByRole('row', { name: /says weir/ });
    await row.getByText('Never run').waitFor();
    await page.getByRole('button', { name: 'Run all on the draft' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await row.getByText('Passed').waitFor();
  });

  walk(
    'of test cases stays where more of them cannot be fetched, which is said once',
    'owner',
    async (tour) => {
      const { page, weir, open, allow } = tour;
      allow(/403/);
      const flow = await createFlow(weir, 'many-cases', [code('a', 'return "weir"')]);
      await sql`insert into test_case (flow_id, name, input, expectation)
      select ${flow.id}, 'case ' || i, '{"message":"m"}', '{"type":"contains","text":"weir"}'
      from generate_series(1, 60) i`.execute(weir.db);
      const detail = { code: 'FORBIDDEN', message: 'Not now.' };
      await page.route(/\/test-cases\?.*cursor=/, (route) =>
        route.fulfill({ status: 403, json: { detail } }),
      );
      await open(`${flow.path}/tests`);
      const rows = page.getByRole('table', { name: 'Test cases' }).getByRole('row');
      await rows.first().waitFor();
      const shown = await rows.count();
      assert.ok(shown > 40, `${shown} rows`);
      const more = page.getByRole('button', { name: 'Show more' });
      await more.click();
      await page.getByText('Not now.').waitFor();
      assert.equal(await rows.count(), shown);
      await page.unrouteAll();
      await more.click();
      await waitUntil(async () => (await rows.count()) > shown);
    },
  );

  walkApart('of an organization is the typed text, whoever saves meanwhile', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const change = (names: { name: string } | { description: string }) =>
      weir.db
        .updateTable('organization')
        .set({ ...names, updated_at: sql`now()` })
        .where('id', '=', weir.organizationId)
        .execute();
    const showsIn = async (field: Locator, value: string) => {
      // As when the reader returns to the page: data older than ten seconds is fetched again.
      await page.clock.fastForward(10_000);
      await waitUntil(async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
        return (await field.inputValue()) === value;
      });
    };
    await page.clock.install();
    await open('orgs/demo/settings');
    const [name, description] = [
      page.getByLabel('Name', { exact: true }),
      page.getByLabel('Description', { exact: true }),
    ];
    const before = await name.inputValue();
    await description.fill('Typed here');
    await change({ name: 'Named elsewhere' });
    await showsIn(name, 'Named elsewhere');
    assert.equal(await description.inputValue(), 'Typed here');
    const sent = Promise.withResolvers<object>();
    const answer = Promise.withResolvers<void>();
    await page.route('**/api/v1/organizations/*', async (route) => {
      if (route.request().method() !== 'PUT') return await route.continue();
      const response = await route.fetch();
      sent.resolve(route.request().postDataJSON());
      await answer.promise;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    assert.deepEqual(await sent.promise, { description: 'Typed here' });
    await name.fill('Typed meanwhile');
    await change({ description: 'Described elsewhere' });
    answer.resolve();
    await page.getByText('Saved.').waitFor();
    await showsIn(description, 'Described elsewhere');
    assert.equal(await name.inputValue(), 'Typed meanwhile');
    // Typed back: no change any more.
    await name.fill('Named elsewhere');
    await change({ name: before });
    await showsIn(name, before);
  });

  walk("of a flow's name is the typed text, even without a response", 'owner', async (tour) => {
    const { page, weir, open, allow } = tour;
    allow(/ERR_FAILED|status of 412/);
    const flow = await createFlow(weir, 'named-twice', [code('a', 'return 1')]);
    await open(flow.path);
    await page.getByRole('button', { name: 'More about this flow' }).click();
    await page.getByRole('menuitem', { name: 'Name and description' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Mine');
    await weir.db.updateTable('flow').set({ name: 'Theirs' }).where('id', '=', flow.id).execute();
    await page.route('**/flows/*', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    const readAgain = page.waitForResponse('**/me');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('No response came, so the change may have been made.').waitFor();
    await readAgain;
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This flow was changed elsewhere').waitFor();
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Mine');
  });

  walk('of two versions is their difference, not that of two others', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'compared', [code('a', 'return 1')]);
    await flow.publish();
    await flow.replace([code('a', 'return 2')]);
    await flow.publish();
    await open(`${flow.path}/versions?version=2&compare=1`);
    const panelOf = (name: string) =>
      page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name, exact: true }) })
        .last();
    const first = panelOf('From version 1 to version 2');
    await first.getByRole('listitem').first().waitFor();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route('**/difference?*', async (route) => {
      asked.resolve();
      await answer.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: /Changes since version 1/ }).click();
    await page.getByRole('option', { name: 'Changes since draft' }).click();
    const second = panelOf('From draft to version 2');
    await second.waitFor();
    await asked.promise;
    assert.equal(await second.getByRole('listitem').count(), 0);
    answer.resolve();
    await second.getByText('They are the same.').waitFor();
  });

  walk('of a run names a block beyond the first 2,000, and shows it on request', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'long-run', [code('a', 'return 1'), code('b', 'throw Error("no")')]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/long-run/v1/execute', request);
    await lengthen(weir, body.executionId);
    await open(`${flow.path}/runs/${body.executionId}?block=b`);
    await page.getByText('The block b is not among the first 2,000 block executions.').waitFor();
    const failure = page.getByRole('alert');
    await failure.getByText('The block that failed is not among the first 2,000 block executions.').waitFor();
    await failure.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('heading', { level: 2, name: 'b', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show the block that failed' }).waitFor();
  });

  walk('of a long run grows on request while the run is being refreshed', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'long-wait', [
      code('a', 'return 1'),
      llm('ask', 'Use lookup', 'demo/chat', { processor_config: { tools_enabled: true } }),
    ]);
    await flow.publish();
    const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
    const request = { key: weir.demoKey, body: { message: 'm', tools } };
    const { body } = await weir.call('POST', 'demo/demo/long-wait/v1/execute', request);
    await lengthen(weir, body.executionId);
    await open(`${flow.path}/runs/${body.executionId}?block=ask`);
    const more = page.getByRole('region', { name: 'Blocks' }).getByRole('button', { name: 'Show more' });
    await more.waitFor();
    // The next look is not answered.
    const asked = Promise.withResolvers<void>();
    await page.route('**/blocks?*', () => asked.resolve(), { times: 1 });
    await asked.promise;
    await more.click();
    await page.getByRole('heading', { level: 2, name: 'ask', exact: true }).waitFor();
  });

  walk('of a long run names no failed block when a loop refused its input', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    const flow = await createFlow(weir, 'no-array', [
      code('a', 'return 1'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 5, body: [code('b', 'return 1')] },
    ]);
    await flow.publish();
    const request = { key: weir.demoKey, body: { message: 'm' } };
    const { body } = await weir.call('POST', 'demo/demo/no-array/v1/execute', request);
    await lengthen(weir, body.executionId);
    await open(`${flow.path}/runs/${body.executionId}?view=graph`);
    await page.getByRole('alert').getByText('LOOP_INPUT_NOT_ARRAY').waitFor();
    await page.getByText('The first 2,000 block executions are shown.').waitFor();
    await page.getByRole('region', { name: 'Blocks' }).getByText('each', { exact: true }).waitFor();
    assert.equal(await page.getByText('The block that failed').count(), 0);
  });
});

/** Gives a run 2,000 more executions of its block `a`, before all others. */
async function lengthen(weir: ConsoleWeir, executionId: string): Promise<void> {
  await sql`
    insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, output, latency_ms,
      attempts, started_at, finished_at)
    select execution_id, 'a#' || i, 'a', 'a', 'code', 'completed', '{"ref":"$message"}', '1', 1, 1, started_at,
      started_at
    from run, generate_series(1, 2000) i where execution_id = ${executionId}`.execute(weir.db);
}
