// Records test/histories/*.json from real runs. Run it by hand, with TEST_DATABASE_URL and TEST_TEMPORAL_ADDRESS set, to add
// a new kind of history. It overwrites no file: a release must replay the histories of the releases before.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { PAIR_MAX } from '../../activities/deliveries/delivery-gate.ts';
import { snapshotDraft } from '../../db/flows/draft-snapshots.ts';
import { insertFlow } from '../../db/flows/flows.ts';
import { listTestCases, saveTestCase } from '../../db/test-runs/test-cases.ts';
import { insertTestRun } from '../../db/test-runs/test-runs.ts';
import { startDemoModelServer } from '../../dev/demo-model/server.ts';
import type { Step } from '../../flow/definition.ts';
import { workflowIdOf } from '../../flow/run.ts';
import type { Expectation, TestInput } from '../../flow/test-case.ts';
import type { ToolDefinition } from '../../flow/tool-calls.ts';
import { ACTIVITY_BYTES_EACH } from '../../platform/limits/gates.ts';
import { startTestRun } from '../../temporal/start-run.ts';
import { code, llm, passthrough } from '../blocks.ts';
import { answerWith, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { startWebhookWeir } from '../webhooks.ts';
import { CANCELLED_FLOWS, FAST_MODELS, FLOWS, HISTORY_NAMES } from './recorded-flows.ts';

async function record(name: string, workflowId: string): Promise<void> {
  assert.ok(HISTORY_NAMES.includes(name), `${name} is missing in HISTORY_NAMES`);
  const file = path.join(import.meta.dirname, '..', 'histories', `${name}.json`);
  if (existsSync(file)) return;
  const history = await weir.client.workflow.getHandle(workflowId).fetchHistory();
  // Stack traces name the folders it was recorded in, which are nobody's business.
  const root = path.join(import.meta.dirname, '..', '..');
  const folders = [path.dirname(realpathSync(path.join(root, 'node_modules'))), root];
  const text = folders.reduce((json, folder) => json.replaceAll(folder, '/weir'), historyToJSON(history));
  await writeFile(file, `${text}\n`);
  console.log(name);
}

type Case = { message: string; expectation: Expectation } & Pick<TestInput, 'tools' | 'tool_results'>;

/** Runs test cases of a new flow's draft to their end; answers the id of the workflow. */
async function runTests(slug: string, steps: Step[], cases: Case[]): Promise<string> {
  const definition = { steps };
  const { id: flowId } = await insertFlow(weir.db, {
    projectId: tenant.projectId,
    slug,
    name: slug,
    definition,
  });
  for (const [index, { expectation, ...input }] of cases.entries())
    await weir.db.transaction().execute((tx) =>
      saveTestCase(tx, {
        flowId,
        name: `case ${index}`,
        input: { ...input, parameters: {} },
        expectation,
      }),
    );
  const id = randomUUID();
  await insertTestRun(weir.db, {
    id,
    flowId,
    flowVersionId: await snapshotDraft(weir.db, flowId, definition),
    startedBy: 'ada',
    tests: (await listTestCases(weir.db, flowId)).map((testCase) => ({
      executionId: randomUUID(),
      testCaseId: testCase.id,
    })),
  });
  await startTestRun({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, id);
  await weir.client.workflow.getHandle(id).result();
  return id;
}

const models = await startDemoModelServer();
const weir = await startWebhookWeir({ env: { DEMO_BASE_URL: models.url } });
const tenant = await weir.createTenant();
for (const model of FAST_MODELS) {
  const flow = await weir.createFlow(tenant, [llm('a', 'x', model)]);
  await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'hello' } });
}
for (const [name, steps] of Object.entries(FLOWS)) {
  const flow = await weir.createFlow(tenant, steps);
  const { body } = await weir.call('POST', `${flow}/execute`, {
    key: tenant.key,
    body: { message: 'hello' },
  });
  // The answer comes before the workflow has closed.
  await weir.client.workflow
    .getHandle(body.executionId)
    .result()
    .catch(() => undefined);
  await record(name, body.executionId);
}
for (const [name, steps] of Object.entries(CANCELLED_FLOWS)) {
  const flow = await weir.createFlow(tenant, steps);
  const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'hello' } });
  // By then its last block runs.
  await setTimeout(2_000);
  await weir.call('POST', `${flow}/jobs/${body.executionId}/cancel`, { key: tenant.key });
  await weir.finish(flow, body.executionId, tenant.key);
  await record(name, body.executionId);
}
// A provider that refuses for a while.
const refusing = await weir.createFlow(tenant, [llm('a', 'x', 'demo/error-503'), passthrough('b')]);
const { body: refused } = await weir.call('POST', `${refusing}/jobs`, {
  key: tenant.key,
  body: { message: 'hello' },
});
await setTimeout(4_000);
await weir.call('POST', `${refusing}/jobs/${refused.executionId}/cancel`, { key: tenant.key });
await weir.finish(refusing, refused.executionId, tenant.key);
await record('model-refused', refused.executionId);
// A run that pauses for a tool, its resume, and the rest of the flow after it.
const asking = await weir.createFlow(tenant, [
  code('a', 'return message;'),
  llm('ask', 'Use get_weather: {{previous_output}}', 'demo/chat', {
    processor_config: { tools_enabled: true },
  }),
  code('b', 'return input;'),
]);
const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'get_weather' } }];
const { body: paused } = await weir.call('POST', `${asking}/execute`, {
  key: tenant.key,
  body: { message: 'hello', tools },
});
await record('paused', paused.executionId);
const { executionId, pausedAtStep, toolCallMessages, toolCalls, accumulatedOutputs } = paused;
const results = toolCalls.map(({ id }: { id: string }) => ({
  role: 'tool',
  tool_call_id: id,
  content: 'sunny',
}));
await weir.call('POST', `${asking}/execute`, {
  key: tenant.key,
  body: {
    executionId,
    pausedAtStep,
    toolCallMessages: [...toolCallMessages, ...results],
    accumulatedOutputs,
    tools,
  },
});
const resumed = await weir.db
  .selectFrom('run')
  .select('execution_id as callId')
  .where('continues', '=', executionId)
  .executeTakeFirstOrThrow();
await record('resumed', workflowIdOf({ executionId, ...resumed }));
// A code block and a loop whose input gets no permit: they are rescheduled on timers.
const each: Step = {
  type: 'loop',
  step_id: 'each',
  name: 'each',
  max_iterations: 2,
  body: [passthrough('a')],
};
const rescheduling = await weir.createFlow(tenant, [
  code('list', 'return Array(2).fill("x".repeat(50_000));'),
  {
    type: 'parallel',
    step_id: 'p',
    name: 'p',
    branches: { code: [code('b', 'return input.length;')], loop: [each] },
  },
]);
const permit = await weir.gates.inputs.acquire(tenant.organizationId, { weight: ACTIVITY_BYTES_EACH });
const { body: rescheduled } = await weir.call('POST', `${rescheduling}/jobs`, {
  key: tenant.key,
  body: { message: 'hello' },
});
await setTimeout(2_000);
permit.release();
await weir.finish(rescheduling, rescheduled.executionId, tenant.key);
await record('rescheduled', rescheduled.executionId);
// Cases that pass and fail, are judged by a model, and whose run fails.
await record(
  'run-tests',
  await runTests(
    'tested',
    [code('a', 'if (message === "no") throw new Error("no"); return message;'), passthrough('b')],
    [
      { message: 'yes', expectation: { type: 'equals', value: 'yes' } },
      { message: 'yes', expectation: { type: 'contains', text: 'nothing of that' } },
      { message: 'yes', expectation: { type: 'judge', criteria: 'It agrees.', model: 'demo/chat' } },
      { message: 'no', expectation: { type: 'equals', value: 'no' } },
      { message: 'yes', expectation: { type: 'json_schema', schema: { type: 'string' } } },
      { message: 'no', expectation: { type: 'judge', criteria: 'It agrees.', model: 'demo/chat' } },
    ],
  ),
);
// More cases than run at a time, the first and the last with rounds of tool calls.
const plain: Case = { message: 'hello', expectation: { type: 'contains', text: 'hello' } };
const withTools: Case = {
  message: 'Use get_weather',
  expectation: { type: 'contains', text: 'sunny' },
  tools,
  tool_results: [{ name: 'get_weather', result: 'sunny' }],
};
await record(
  'run-tests-with-tools',
  await runTests(
    'tested-with-tools',
    [llm('ask', '{{message}}', 'demo/chat', { processor_config: { tools_enabled: true } }), passthrough('b')],
    [withTools, ...Array(8).fill(plain), withTools],
  ),
);
const hook = weir.hooks[0] as WebhookReceiver;
const ends = (id: string) =>
  weir.deliveryWhen(
    tenant,
    ({ nextAttemptAt, status }) => !nextAttemptAt && !['pending', 'in_flight'].includes(status),
    id,
  );
hook.will(answerWith(503));
const callback = await weir.startJob(tenant, await weir.createFlow(tenant, FLOWS['failed-code'] ?? []), hook);
const { id: retried } = await weir.deliveryWhen(tenant, ({ status }) => status === 'failed_retry');
await weir.pendingAttempt(retried, 2);
await weir.attemptNow(retried);
await ends(retried);
await record('callback', callback);
await record('delivery-retried', retried);
hook.will(answerWith(404));
const { id: failed } = await weir.sendTest(tenant, hook);
await ends(failed);
await setTimeout(500);
await record('delivery-failed', failed);
// Attempts that are postponed while the signing secret cannot be decrypted.
const { current_secret } = await weir.db
  .selectFrom('webhook_secret')
  .select('current_secret')
  .where('organization_id', '=', tenant.organizationId)
  .executeTakeFirstOrThrow();
const setSecret = (secret: string) =>
  weir.db
    .updateTable('webhook_secret')
    .set({ current_secret: secret })
    .where('organization_id', '=', tenant.organizationId)
    .execute();
await setSecret('unreadable');
const { id: postponed } = await weir.sendTest(tenant, hook);
await setTimeout(2_000);
await setSecret(current_secret);
await ends(postponed);
await setTimeout(500);
await record('delivery-postponed', postponed);
// A second attempt that is due while the receiver has all it may have is rescheduled.
hook.will(answerWith(503));
const { id: rescheduledDelivery } = await weir.sendTest(tenant, hook);
await weir.pendingAttempt(rescheduledDelivery, 2);
hook.will(
  ...Array.from({ length: PAIR_MAX }, () => async (response: ServerResponse) => {
    await setTimeout(5_000);
    response.writeHead(204).end();
  }),
);
const arrived = hook.received.length;
await Promise.all(Array.from({ length: PAIR_MAX }, () => weir.sendTest(tenant, hook)));
await hook.arrived(arrived + PAIR_MAX);
await weir.attemptNow(rescheduledDelivery);
await ends(rescheduledDelivery);
await setTimeout(500);
await record('delivery-rescheduled', rescheduledDelivery);
await weir.stop();
await models.close();
