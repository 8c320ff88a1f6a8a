// Work in every state that a backup can meet.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { snapshotDraft } from '../../db/flows/draft-snapshots.ts';
import { insertFlow } from '../../db/flows/flows.ts';
import { listTestCases, saveTestCase } from '../../db/test-runs/test-cases.ts';
import { insertTestRun } from '../../db/test-runs/test-runs.ts';
import type { Step } from '../../flow/definition.ts';
import { startTestRun } from '../../temporal/start-run.ts';
import { createStepClient } from '../api/runs/step-client.ts';
import { asking, resumeOf, toolCall, weather } from '../api/runs/tool-calls-harness.ts';
import { statusIs } from '../api/webhooks/deliveries-fixture.ts';
import { code, llm } from '../blocks.ts';
import type { CountingModelServer } from '../fakes/counting-model-server.ts';
import { answer, callTools, type FakeModelServer } from '../fakes/model-server.ts';
import { answerWith, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Answer, Tenant, Weir } from '../harness.ts';
import type { WebhookWeir } from '../webhooks.ts';

export type WorkUnderWay = {
  tenant: Tenant;
  /** Flows by name, of which each run completes with `blocks` blocks, `charged` of them model calls. */
  runs: { [name: string]: { flow: string; executionId: string; blocks: number; charged: number } };
  testRunId: string;
  deliveryId: string;
  deliveredId: string;
  session: { flow: string; executionId: string; accumulatedOutputs: object };
  // biome-ignore lint/suspicious/noExplicitAny: the answer of a pause
  paused: { flow: string; body: any };
  /** Lets the worker end what it has under way. */
  end(): Promise<void>;
};

type Models = { counting: CountingModelServer; tools: FakeModelServer };

const TWO_CALLS = [
  llm('first', 'first {{message}}', 'demo/chat'),
  llm('second', '{{message}}', 'demo/chat'),
  code('last', 'return [input];'),
];
const LOOP: Step[] = [
  code('list', 'return ["one", "hold two", "three"];'),
  {
    type: 'loop',
    step_id: 'each',
    name: 'each',
    max_iterations: 5,
    body: [llm('item', '{{previous_output}}', 'demo/chat')],
  },
];

/** Brings runs, deliveries and a test run into their states; its worker ends in the middle of it. */
export async function beginWork(weir: WebhookWeir, models: Models): Promise<WorkUnderWay> {
  const hook = weir.hooks[0] as WebhookReceiver;
  const tenant = await weir.createTenant();
  const two = await weir.createFlow(tenant, TWO_CALLS);
  const loop = await weir.createFlow(tenant, LOOP);
  const tools = await weir.createFlow(tenant, [asking('ask'), code('last', 'return [input];')]);
  const post = async (path: string, body: object): Promise<Answer['body']> =>
    (await weir.call('POST', path, { key: tenant.key, body })).body;
  const start = async (flow: string, message: string): Promise<string> =>
    (await post(`${flow}/jobs`, { message })).executionId;

  const ended = await weir.startJob(tenant, two, hook, { message: 'ended' });
  const { id: deliveredId } = await weir.deliveryWhen(tenant, statusIs('succeeded'));
  hook.will(answerWith(503, 'later'), answerWith(503, 'later'));
  const reported = await weir.startJob(tenant, two, hook, { message: 'reported' });
  const { id: deliveryId } = await weir.deliveryWhen(tenant, statusIs('failed_retry'));
  await weir.pendingAttempt(deliveryId, 2);
  await weir.attemptNow(deliveryId);
  await weir.pendingAttempt(deliveryId, 3);
  await weir.deliveryWhen(tenant, (delivery) => delivery.attempt === 2, deliveryId);

  models.tools.will(callTools([toolCall('a')]));
  const paused = await post(`${tools}/execute`, { message: 'tools', tools: [weather] });
  const session = await beginSession(weir, tenant, two);

  const held = models.counting.hold('hold');
  const asked = await start(two, 'hold');
  const looping = await start(loop, 'loop');
  const testRunId = await runTests(weir, tenant);
  await held.arrived(3);
  const stopped = weir.stopWorker();
  const waiting = await start(two, 'waiting');
  const calls = { blocks: 3, charged: 2 };
  return {
    tenant,
    runs: {
      ended: { flow: two, executionId: ended, ...calls },
      reported: { flow: two, executionId: reported, ...calls },
      asked: { flow: two, executionId: asked, ...calls },
      waiting: { flow: two, executionId: waiting, ...calls },
      looping: { flow: loop, executionId: looping, blocks: 4, charged: 3 },
    },
    testRunId,
    deliveryId,
    deliveredId,
    session: { flow: two, ...session },
    paused: { flow: tools, body: paused },
    async end() {
      held.release();
      await stopped;
    },
  };
}

/** Makes the first of a session's calls. */
async function beginSession(weir: Weir, tenant: Tenant, flow: string) {
  const client = await createStepClient(weir, tenant);
  const messages = await client.step(flow, { stepIndex: 0, message: 'session' });
  const { executionId } = messages.at(-1)?.data ?? {};
  const { output } = messages.find(({ event }) => event === 'block_completed')?.data ?? {};
  return { executionId: executionId as string, accumulatedOutputs: { first: output } };
}

/** Starts a test run whose only case asks the model of a run that is held. */
async function runTests(weir: Weir, tenant: Tenant): Promise<string> {
  const { db } = weir;
  const draft = { steps: [llm('tested', 'hold test', 'demo/chat')] };
  const slug = 'tested';
  const { id: flowId } = await insertFlow(db, {
    projectId: tenant.projectId,
    slug,
    name: slug,
    definition: draft,
  });
  const testRunId = randomUUID();
  await db.transaction().execute(async (tx) => {
    const expectation = { type: 'contains', text: 'answer' } as const;
    await saveTestCase(tx, { flowId, name: 'case', input: { message: 'm' }, expectation } as never);
    const tests = (await listTestCases(tx, flowId)).map(({ id }) => ({
      executionId: randomUUID(),
      testCaseId: id,
    }));
    const flowVersionId = await snapshotDraft(tx, flowId, draft);
    await insertTestRun(tx, { id: testRunId, flowId, flowVersionId, startedBy: 'test', tests });
  });
  await startTestRun({ db, client: weir.client, taskQueue: weir.config.taskQueue }, testRunId);
  return testRunId;
}

/** Callers who had an answer go on with it. */
export async function checkCallers(
  weir: Weir,
  { paused, session, tenant }: WorkUnderWay,
  tools: FakeModelServer,
): Promise<void> {
  tools.will(answer('done'));
  const { key } = tenant;
  const resumed = await weir.call('POST', `${paused.flow}/execute`, { key, body: resumeOf(paused.body) });
  assert.deepEqual(
    [resumed.body.status, resumed.body.result],
    ['completed', ['done']],
    JSON.stringify(resumed.body),
  );
  const { executionId, accumulatedOutputs, flow } = session;
  const rest = { executionId, stepIndex: 1, accumulatedOutputs, message: 'session', runRemaining: true };
  const response = await fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(rest),
  });
  assert.match(await response.text(), /event: run_completed/);
}
