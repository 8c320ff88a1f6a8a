import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TOOL_MESSAGES_MAX_BYTES } from '../../../flow/limits.ts';
import { llm, passthrough } from '../../blocks.ts';
import type { Answer, Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

const toolBlock = (stepId: string) =>
  llm(stepId, 'x', 'demo/chat', { processor_config: { tools_enabled: true } });
const tools = [{ type: 'function', function: { name: 'look' } }];
const unknownId = randomUUID();

describe('POST …/step, refused before its first byte', () => {
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  let flow: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
    flow = await weir.createFlow(tenant, [passthrough('a'), toolBlock('ask'), passthrough('c')]);
  });
  after(() => weir.stop());

  const step =
    (path: string, body: object, key: string | undefined = tenant.key) =>
    () =>
      weir.call('POST', `${path}/step`, { key, body });
  /** `detail` of a refusal, which is JSON and has left no trace. */
  async function refused(call: () => Promise<Answer>, status: number, code: string) {
    const count = () => weir.db.selectFrom('run').select('execution_id').execute();
    const before = (await count()).length;
    const { body, status: got, headers } = await call();
    assert.deepEqual([got, body.detail?.code], [status, code], JSON.stringify(body));
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.equal((await count()).length, before);
    return body.detail;
  }
  const begin = async (path: string) =>
    only(await client.step(path, { stepIndex: 0, message: 'm' }), 'run_started').executionId as string;
  describe('400', () => {
    it('MISSING_MESSAGE: stepIndex 0 without a message', async () => {
      await refused(step(flow, { stepIndex: 0 }), 400, 'MISSING_MESSAGE');
      await refused(step(flow, { stepIndex: 0, executionId: await begin(flow) }), 400, 'MISSING_MESSAGE');
    });

    for (const stepIndex of [-1, 3, 2 ** 31, Number.MIN_SAFE_INTEGER, 1e21, -1e21])
      it(`INVALID_STEP_INDEX: ${stepIndex} of three steps`, async () => {
        const body = { stepIndex, message: 'm', accumulatedOutputs: {} };
        const { message } = await refused(step(flow, body), 400, 'INVALID_STEP_INDEX');
        assert.match(message, /0 to 2/);
      });

    it('INVALID_VERSION: version 0 is the draft', async () => {
      await refused(step(`${flow}/v0`, { stepIndex: 0, message: 'm' }), 400, 'INVALID_VERSION');
    });

    it('NO_STEPS: a flow without steps', async () => {
      const empty = await weir.createFlow(tenant, []);
      await refused(step(empty, { stepIndex: 0, message: 'm' }), 400, 'NO_STEPS');
    });

    for (const [code, sent] of [
      ['TOOLS_INVALID', { tools: [...tools, ...tools] }],
      ['TOOLS_INVALID', { tools, toolChoice: { type: 'function', function: { name: 'other' } } }],
      ['TOOLS_INVALID', { tools: 'look' }],
      [
        'TOOLS_INVALID',
        { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'none' } } }] },
      ],
      ['TOOL_NAME_INVALID', { tools: [{ type: 'function', function: { name: '1st' } }] }],
    ] as const)
      it(`${code}: ${JSON.stringify(sent).slice(0, 80)}`, async () => {
        await refused(step(flow, { stepIndex: 0, message: 'm', ...sent }), 400, code);
      });

    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '1' },
    ];
    it('TOOL_RESULTS_MISMATCH: results of a session that waits for none', async () => {
      const resume = { stepIndex: 1, accumulatedOutputs: { a: 'm' }, tools, toolCallMessages: messages };
      const executionId = await begin(flow);
      for (const accumulatedOutputs of [resume.accumulatedOutputs, undefined]) {
        const call = step(flow, { ...resume, accumulatedOutputs, executionId });
        const detail = await refused(call, 400, 'TOOL_RESULTS_MISMATCH');
        assert.deepEqual([detail.expected, detail.received], [[], ['c1']]);
      }
      const idle = { ...resume, executionId, toolCallMessages: [{ role: 'user', content: 'x' }] };
      const { expected, received } = await refused(step(flow, idle), 400, 'TOOL_RESULTS_MISMATCH');
      assert.deepEqual([expected, received], [[], []]);
    });

    it('INVALID_RESUME: tool results without a session', async () => {
      const resume = { stepIndex: 1, accumulatedOutputs: { a: 'm' }, tools, toolCallMessages: messages };
      for (const accumulatedOutputs of [resume.accumulatedOutputs, undefined])
        await refused(step(flow, { ...resume, accumulatedOutputs }), 400, 'INVALID_RESUME');
    });

    it('PARAMETER_NAME_RESERVED: attachments inside parameters', async () => {
      const body = { stepIndex: 0, message: 'm', parameters: { attachments: [] } };
      await refused(step(flow, body), 400, 'PARAMETER_NAME_RESERVED');
    });
  });

  it('401: no key, and a key that is none', async () => {
    for (const key of ['', 'weir_live_12345678_12345678901234567890123456789012'])
      await refused(step(flow, { stepIndex: 0, message: 'm' }, key), 401, 'UNAUTHENTICATED');
  });

  it('402 INSUFFICIENT_CREDITS: on the first call, and in the middle of a session', async () => {
    const poor = await weir.createTenant();
    const theirs = await weir.createFlow(poor, [passthrough('a'), passthrough('b')]);
    const theirClient = await createStepClient(weir, poor);
    const events = await theirClient.step(theirs, { stepIndex: 0, message: 'm' });
    await weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', poor.organizationId)
      .execute();
    const { executionId } = only(events, 'run_started');
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
    for (const body of [{ stepIndex: 0, message: 'm' }, next])
      await refused(step(theirs, body, poor.key), 402, 'INSUFFICIENT_CREDITS');
  });

  describe('404', () => {
    it('FLOW_NOT_FOUND: a bad slug, no such version, a foreign flow', async () => {
      const stranger = await weir.createTenant();
      const theirs = await weir.createFlow(stranger, [passthrough('a')]);
      for (const path of [`${flow}x`, `${flow}/v2`, `${flow}/v99999999999`, theirs])
        await refused(step(path, { stepIndex: 0, message: 'm' }), 404, 'FLOW_NOT_FOUND');
    });

    it('RUN_NOT_FOUND: an unknown executionId, one that is none, of another flow, of another endpoint, of a call', async () => {
      const other = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
      const execute = await weir.call('POST', `${other}/execute`, {
        key: tenant.key,
        body: { message: 'm' },
      });
      const events = await client.step(other, { stepIndex: 0, message: 'm' });
      const ofCall = events[0]?.id.slice(0, 36);
      const executionIds = [unknownId, 'x', '', '\0', '-'.repeat(36), execute.body.executionId, ofCall];
      const next = { stepIndex: 1, accumulatedOutputs: { a: 1 } };
      for (const executionId of executionIds)
        await refused(step(other, { ...next, executionId }), 404, 'RUN_NOT_FOUND');
      const { executionId } = only(events, 'run_started');
      await refused(step(flow, { ...next, executionId }), 404, 'RUN_NOT_FOUND');
    });
  });

  it('413 MESSAGES_TOO_LARGE: toolCallMessages of more than 1 MB', async () => {
    const messages = (length: number) => [{ role: 'user', content: 'x'.repeat(length) }];
    const overhead = JSON.stringify(messages(0)).length;
    const body = { stepIndex: 0, executionId: unknownId, tools };
    const send = (bytes: number) => step(flow, { ...body, toolCallMessages: messages(bytes - overhead) });
    await refused(send(TOOL_MESSAGES_MAX_BYTES + 1), 413, 'MESSAGES_TOO_LARGE');
    await refused(send(TOOL_MESSAGES_MAX_BYTES), 404, 'RUN_NOT_FOUND');
  });

  describe('422', () => {
    it('TOOLS_NOT_ENABLED: no block of the flow has the flag', async () => {
      const plain = await weir.createFlow(tenant, [passthrough('a')]);
      await refused(step(plain, { stepIndex: 0, message: 'm', tools }), 422, 'TOOLS_NOT_ENABLED');
    });

    for (const [field, body] of [
      ['accumulatedOutputs', { stepIndex: 1 }],
      ['accumulatedOutputs.a', { stepIndex: 1, accumulatedOutputs: { c: 1 } }],
      ['blockOverrides.ghost', { stepIndex: 0, message: '', blockOverrides: { ghost: {} } }],
      ['blockOverrides.a.prompt', { stepIndex: 0, message: '', blockOverrides: { a: { prompt: 'x' } } }],
      [
        'blockOverrides.a.processor_type',
        { stepIndex: 0, message: '', blockOverrides: { a: { processor_type: 'code' } } },
      ],
      ['stepIndex', { message: '' }],
      ['stepIndex', { message: '', stepIndex: 0.5 }],
      ['stepIndex', { message: '', stepIndex: '0' }],
    ] as const)
      it(`VALIDATION_ERROR names ${field}: ${JSON.stringify(body)}`, async () => {
        const { errors } = await refused(step(flow, body), 422, 'VALIDATION_ERROR');
        assert.equal(errors[0].field, field);
      });

    it('VALIDATION_ERROR says what belongs into accumulatedOutputs', async () => {
      const { message } = await refused(step(flow, { stepIndex: 1 }), 422, 'VALIDATION_ERROR');
      assert.match(message, /^accumulatedOutputs: is required after step 0: .* by step_id$/);
    });
  });
});
