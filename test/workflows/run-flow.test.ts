import assert from 'node:assert/strict';
import proto from '@temporalio/proto';
import { readResult } from '../../db/stored-values/load-references.ts';
import { startDemoModelServer } from '../../dev/demo-model/server.ts';
import { beside, code, llm, passthrough } from '../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

const HISTORY_PAYLOAD_MAX_BYTES = 256 * 1024;

describe('runFlow', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: Awaited<ReturnType<typeof startDemoModelServer>>;
  before(async () => {
    models = await startDemoModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: models.url } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const execute = async (flow: string, message = '') =>
    (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } })).body;
  /** A run answers when its end is recorded, which is just before its workflow closes. */
  const close = (executionId: string) =>
    weir.client.workflow
      .getHandle(executionId)
      .result()
      .catch(() => undefined);
  const history = async (executionId: string) => {
    await close(executionId);
    return (await weir.client.workflow.getHandle(executionId).fetchHistory()).events ?? [];
  };
  const assertSmallEvents = async (executionId: string) => {
    for (const event of await history(executionId)) {
      const { length } = proto.temporal.api.history.v1.HistoryEvent.encode(event).finish();
      assert(length < HISTORY_PAYLOAD_MAX_BYTES, `${event.eventType}: ${length} bytes`);
    }
  };

  it('completes a run whose blocks each produce 2 MB, with no event over 256 KB in its history', async () => {
    const flow = await weir.createFlow(tenant, [
      code('a', 'return { text: "a".repeat(2_000_000) };'),
      passthrough('b'),
      {
        type: 'loop',
        step_id: 'l',
        name: 'l',
        max_iterations: 2,
        until: { pointer: '/never', equals: 1 },
        body: [passthrough('c')],
      },
      code('d', 'return input[1].text + input.length;'),
    ]);
    const { executionId, status, result, errorMessage } = await execute(flow);
    assert.equal(status, 'completed', errorMessage);
    assert.equal(result, `${'a'.repeat(2_000_000)}2`);
    const fetched = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
    assert.equal(fetched.body.result, result);
    await assertSmallEvents(executionId);
  });

  it('keeps composed outputs of many iterations out of the history', async () => {
    const flow = await weir.createFlow(tenant, [
      code('list', 'return Array.from({ length: 300 }, (_, i) => i);'),
      {
        type: 'loop',
        step_id: 'l',
        name: 'l',
        max_iterations: 300,
        body: [code('item', 'return { input, text: "x".repeat(1_500) };')],
      },
      code('sum', 'return input.reduce((sum, item) => sum + item.input, 0);'),
    ]);
    const { executionId, result, errorMessage } = await execute(flow);
    assert.equal(result, (299 * 300) / 2, errorMessage);
    await assertSmallEvents(executionId);
  });

  it('hands a model call little, however many outputs its input is composed of', async () => {
    const long = (index: number) => `${index}-`.padEnd(64, 'x');
    const branches = Array.from({ length: 32 }, (_, index) => [long(index), [passthrough(long(index))]]);
    const flow = await weir.createFlow(tenant, [
      code('list', 'return ["a", "b", "c", "d", "e", "f", "g", "h"];'),
      {
        type: 'loop',
        step_id: 'l',
        name: 'l',
        max_iterations: 8,
        body: [{ type: 'parallel', step_id: 'p', name: 'p', branches: Object.fromEntries(branches) }],
      },
      beside(llm('ask', '{{previous_output}}', 'demo/chat', { outputSchema: { type: 'object' } })),
    ]);
    const { executionId, status, errorMessage } = await execute(flow);
    assert.equal(status, 'completed', errorMessage);
    const [scheduled] = (await history(executionId)).flatMap(
      (event) => event.activityTaskScheduledEventAttributes ?? [],
    );
    const size = scheduled?.input?.payloads?.reduce((sum, { data }) => sum + (data?.length ?? 0), 0) ?? 0;
    assert(size > 0 && size < 8_192, `${size} bytes`);
    const { input } = await weir.db
      .selectFrom('block_run')
      .select('input')
      .where('execution_id', '=', executionId)
      .where('block_key', '=', 'ask')
      .executeTakeFirstOrThrow();
    const composed = await readResult(weir.db, executionId, input);
    const expected = [...'abcdefgh'].map((item) =>
      Object.fromEntries(branches.map(([name]) => [name, item])),
    );
    assert.deepEqual(composed, expected);
  });

  for (const [outcome, steps, filter] of [
    ['completed', [], "ExecutionStatus = 'Completed' and WeirOutcome is null"],
    ['failed', [code('fail', 'throw new Error("no");')], "WeirOutcome = 'failed'"],
  ] as const)
    it(`is found by organization, project, flow, version, mode, environment and outcome: ${outcome}`, async () => {
      const flow = await weir.createFlow(tenant, [...steps]);
      const { executionId } = await execute(flow);
      const [organization, project, slug] = flow.split('/');
      const query = [
        `WeirOrganization = '${organization}' and WeirProject = '${project}'`,
        `WeirFlow = '${slug}'`,
        "WeirVersion = 1 and WeirMode = 'execute' and WeirEnvironment = 'live'",
        filter,
      ].join(' and ');
      // Visibility is eventually consistent.
      const found: string[] = [];
      await waitUntil(async () => {
        for await (const { workflowId } of weir.client.workflow.list({ query })) found.push(workflowId);
        return found.length > 0;
      });
      assert.deepEqual(found, [executionId]);
    });

  it('names each block in the history, and model calls by their step', async () => {
    const flow = await weir.createFlow(tenant, [
      code('first', 'return [1];', { name: 'Make a list' }),
      {
        type: 'loop',
        step_id: 'each',
        name: 'each',
        max_iterations: 3,
        body: [beside(llm('ask', 'Say {{previous_output}}', 'demo/chat', { name: 'Ask the model' }))],
      },
    ]);
    const { executionId } = await execute(flow);
    const events = await history(executionId);
    const summaries = events.flatMap(({ userMetadata }) => {
      const data = userMetadata?.summary?.data;
      return data ? [JSON.parse(Buffer.from(data).toString()) as string] : [];
    });
    assert.deepEqual(
      ['Make a list', 'Ask the model #0'].filter((summary) => !summaries.includes(summary)),
      [],
      JSON.stringify(summaries),
    );
    const details = await weir.client.workflow
      .getHandle(executionId)
      .query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.equal(
      details.currentDetails,
      '- Make a list (code): completed\n- Ask the model #0 (llm): completed',
    );
    const scheduled = events.map((event) => event.activityTaskScheduledEventAttributes).find(Boolean);
    assert.equal(scheduled?.activityId, 'ask#0');
  });

  it('ends a failed run as a failed workflow whose type is the code', async () => {
    const flow = await weir.createFlow(tenant, [code('work', 'throw new Error("x")')]);
    const { executionId } = await execute(flow);
    await close(executionId);
    const { status } = await weir.client.workflow.getHandle(executionId).describe();
    assert.equal(status.name, 'FAILED');
    const [failed] = (await history(executionId)).flatMap(
      (event) => event.workflowExecutionFailedEventAttributes ?? [],
    );
    assert.equal(failed?.failure?.applicationFailureInfo?.type, 'CODE_ERROR');
  });

  it('fails the run alone when an error message is not Unicode text or has no end', async () => {
    const messages = [String.raw`"\ud800"`, '"\u{1F600}".repeat(3_000)'];
    for (const message of messages) {
      const thrown = await weir.createFlow(tenant, [code('work', `throw new Error(${message})`)]);
      assert.equal((await execute(thrown)).status, 'failed');
    }
    const longKey = await weir.createFlow(tenant, [
      code('work', 'return { ["k".repeat(3_000_000)]: 1 };', {
        outputSchema: { type: 'object', additionalProperties: { type: 'string' } },
      }),
    ]);
    assert.match((await execute(longKey)).errorMessage, /does not match the block's schema/);
    const named = await weir.createFlow(tenant, [code('work', 'throw 1', { name: '\ud800' })]);
    assert.equal((await execute(named)).status, 'failed');
  });

  it('records tokens, cost and model of an llm block, and charges its cost once', async () => {
    const payer = await weir.createTenant();
    const flow = await weir.createFlow(payer, [llm('ask', 'Hello {{message}}', 'demo/chat')]);
    const accepted = await weir.call('POST', `${flow}/jobs`, { key: payer.key, body: { message: 'you' } });
    const { body } = await weir.finish(flow, accepted.body.executionId, payer.key);
    const [block] = body.blocks;
    assert.equal(block.model, 'demo/chat');
    assert(block.usage.promptTokens > 0 && block.usage.completionTokens > 0 && block.usage.cost > 0);
    assert.equal(body.cost, block.usage.cost);
    const entries = await weir.db
      .selectFrom('ledger_entry')
      .select(['kind', 'amount_microcredits'])
      .where('organization_id', '=', payer.organizationId)
      .orderBy('id')
      .execute();
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['grant', 'charge'],
    );
    const balance = await weir.db
      .selectFrom('organization')
      .select('balance_microcredits')
      .where('id', '=', payer.organizationId)
      .executeTakeFirstOrThrow();
    assert.equal(
      balance.balance_microcredits,
      entries.reduce((sum, entry) => sum + entry.amount_microcredits, 0),
    );
  });

  it('stops the other branches of a parallel step when one fails', async () => {
    const flow = await weir.createFlow(tenant, [
      {
        type: 'parallel',
        step_id: 'p',
        name: 'p',
        branches: {
          bad: [llm('wait', 'x', 'demo/slow-300'), code('bad', 'throw new Error("x")')],
          slow: [llm('slow', 'x', 'demo/slow-60000')],
        },
      },
    ]);
    const { executionId, status } = await execute(flow);
    assert.equal(status, 'failed');
    // The notification that the run has failed may come before the request of its workflow.
    const ended = (await history(executionId)).some(
      (event) => event.activityTaskCancelRequestedEventAttributes ?? event.activityTaskFailedEventAttributes,
    );
    assert(ended, 'the slow model call goes on');
  });
});
