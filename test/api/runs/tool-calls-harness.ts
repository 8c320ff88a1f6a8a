// A Weir over a scripted model server, and what a caller of flows with tools sends.

import assert from 'node:assert/strict';
import type { Block, Step } from '../../../flow/definition.ts';
import { llm, passthrough } from '../../blocks.ts';
import { answer, callTools, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { type Answer, startWeir, type Tenant, type Weir } from '../../harness.ts';
import { publishSteps } from '../../publish-steps.ts';
import { getSharedWeir } from '../../shared-weir.ts';

export const MODEL = 'openai/gpt-4o-mini';
/** The usage of one model call: 10 prompt and 5 completion tokens. */
export const CALL_MICROCREDITS = 10 * 15 + 5 * 60;

export const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** A tool call as models write it. */
export function toolCall(id: string, args = '{"city":"Paris"}', name = 'get_weather') {
  return { id, type: 'function', function: { name, arguments: args } };
}

/** An llm block that may call tools. */
export function asking(stepId: string, prompt = '{{message}}', more: Partial<Block> = {}): Step {
  const processor_config = { tools_enabled: true, ...more.processor_config };
  return llm(stepId, prompt, MODEL, { ...more, processor_config });
}

export const TWO_ASKING = [passthrough('a'), asking('ask'), asking('other')];

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, hostile ones too
export type Body = any;

/** The results of all calls of a pause. */
export function resultsOf(paused: Body): Body[] {
  return paused.toolCalls.map(({ id }: Body) => ({
    role: 'tool',
    tool_call_id: id,
    content: `result of ${id}`,
  }));
}

/** Makes the request that resumes a run after a pause. */
export function resumeOf(paused: Body, results: Body[] = resultsOf(paused)): Body {
  const { executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, toolCallMessages } = paused;
  return {
    executionId,
    pausedAtStep,
    iterationsUsed,
    accumulatedOutputs,
    toolCallMessages: [...toolCallMessages, ...results],
    tools: [weather],
  };
}

/** Returns the detail of an error answer with this status and code. */
export function detail({ status, body }: Answer, expected: number, code: string): Body {
  assert.deepEqual([status, body.detail?.code], [expected, code], JSON.stringify(body).slice(0, 2_000));
  return body.detail;
}

type ToolCallsHarness = {
  weir: Weir;
  tenant: Tenant;
  models: FakeModelServer;
  /** Fresh with a message and `get_weather`, unless the body says otherwise. */
  execute(
    flow: string,
    body?: Body,
    options?: { headers?: Record<string, string>; url?: string },
  ): Promise<Answer>;
  /** A run that is paused; answers the body. */
  pause(flow: string, body?: Body): Promise<Body>;
  /** A paused run with the calls c1 and c2. */
  pauseWithTwo(flow: string): Promise<Body>;
  /** Asserts that a refused request asked no model and left a run of TWO_ASKING paused. */
  stillWaits(flow: string, paused: Body): Promise<void>;
  read(flow: string, executionId: string, suffix?: string): Promise<Answer>;
  /** Publishes the steps as the production version of a flow. */
  publish(flow: string, steps: Step[]): Promise<void>;
  /** Returns what was charged for all calls of a run, in microcredits. */
  charges(executionId: string): Promise<number[]>;
};

/** Registers the hooks of the enclosing `describe`; the model's script is empty before each test. */
export function useToolCalls(options: { worker?: boolean; env?: NodeJS.ProcessEnv } = {}): ToolCallsHarness {
  const ownWeir = options.env !== undefined || options.worker === false;
  const harness = { execute, pause, pauseWithTwo, stillWaits, read, publish, charges } as ToolCallsHarness;
  before(async () => {
    const shared = ownWeir ? undefined : await getSharedWeir();
    harness.models = shared?.models ?? (await startFakeModelServer());
    const { baseUrl } = harness.models.provider;
    const env = { OPENAI_BASE_URL: baseUrl, DEMO_BASE_URL: baseUrl, ...options.env };
    harness.weir = shared ?? (await startWeir({ ...options, env }));
    harness.tenant = await harness.weir.createTenant();
  });
  beforeEach(() => void harness.models.calls.splice(0));
  after(async () => {
    await harness.weir.stop();
    if (ownWeir) await harness.models.close();
  });

  function execute(
    flow: string,
    body: Body = {},
    options: { headers?: Record<string, string>; url?: string } = {},
  ) {
    const sent = body.executionId ? body : { message: 'Paris?', tools: [weather], ...body };
    return harness.weir.call('POST', `${flow}/execute`, { key: harness.tenant.key, body: sent, ...options });
  }

  async function pause(flow: string, body: Body = {}) {
    const answer = await execute(flow, body);
    assert.deepEqual(
      [answer.status, answer.body.status],
      [200, 'tool_calls_required'],
      answer.body.errorMessage,
    );
    return answer.body;
  }

  function pauseWithTwo(flow: string) {
    harness.models.will(callTools([toolCall('c1'), toolCall('c2')]));
    return pause(flow);
  }

  async function stillWaits(flow: string, paused: Body) {
    const asked = harness.models.calls.length;
    harness.models.will(answer('ok'), answer('done'));
    const { body } = await execute(flow, resumeOf(paused));
    assert.equal(body.status, 'completed', body.errorMessage);
    assert.equal(harness.models.calls.length, asked + 2);
  }

  function read(flow: string, executionId: string, suffix = '') {
    return harness.weir.call('GET', `${flow}/jobs/${executionId}${suffix}`, { key: harness.tenant.key });
  }

  function publish(flow: string, steps: Step[]) {
    return publishSteps(harness.weir.db, harness.tenant.projectId, flow, steps);
  }

  async function charges(executionId: string) {
    const rows = await harness.weir.db
      .selectFrom('ledger_entry')
      .innerJoin('run', 'run.execution_id', 'ledger_entry.execution_id')
      .select('amount_microcredits')
      .where((eb) => eb.or([eb('run.execution_id', '=', executionId), eb('run.continues', '=', executionId)]))
      .execute();
    return rows.map((row) => -Number(row.amount_microcredits));
  }

  return harness;
}
