import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Step } from '../../../flow/definition.ts';
import { TOOL_MESSAGES_MAX_BYTES } from '../../../flow/limits.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer } from '../../fakes/model-server.ts';
import {
  asking,
  type Body,
  detail,
  MODEL,
  resumeOf,
  TWO_ASKING,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

describe('errors of tool calls', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, TWO_ASKING);
  });

  describe('MESSAGES_TOO_LARGE', () => {
    it(`answers 413 over ${TOOL_MESSAGES_MAX_BYTES} bytes, before anything else is looked at`, async () => {
      const paused = await h.pauseWithTwo(flow);
      const resume = resumeOf(paused);
      const { length } = JSON.stringify(resume.toolCallMessages);
      const [user] = resume.toolCallMessages;
      user.content += 'x'.repeat(TOOL_MESSAGES_MAX_BYTES - length);
      const over = [{ ...user, content: `${user.content}x` }, ...resume.toolCallMessages.slice(1)];
      const hostile = { toolCallMessages: over, tools: 'none', executionId: 5, unknown: true };
      for (const body of [{ ...resume, toolCallMessages: over }, hostile]) {
        const refused = await h.weir.call('POST', `${flow}/execute`, { key: h.tenant.key, body });
        const { message } = detail(refused, 413, 'MESSAGES_TOO_LARGE');
        assert.match(message, /has 1048577 bytes; at most 1048576/);
      }
      h.models.will(answer('ok'), answer('done'));
      assert.equal((await h.execute(flow, resume)).body.result, 'done');
    });

    it('counts bytes, not characters', async () => {
      const toolCallMessages = [{ role: 'user', content: 'é'.repeat(TOOL_MESSAGES_MAX_BYTES / 2) }];
      detail(await h.execute(flow, { toolCallMessages }), 413, 'MESSAGES_TOO_LARGE');
    });
  });

  it('TOOLS_REQUIRE_SYNC_EXECUTE: 405 for tools of any shape on /jobs', async () => {
    for (const tools of [[weather], [], 'x'])
      detail(
        await h.weir.call('POST', `${flow}/jobs`, { key: h.tenant.key, body: { message: 'm', tools } }),
        405,
        'TOOLS_REQUIRE_SYNC_EXECUTE',
      );
  });

  it('TOOLS_REQUIRE_SYNC_EXECUTE: 405 before anything else that is wrong with the body', async () => {
    const tools = [weather];
    const deep = JSON.parse('['.repeat(70) + ']'.repeat(70));
    const refused = JSON.parse('{"__proto__": {}}');
    for (const body of [
      { message: 'm', tools, toolChoice: 'auto' },
      { tools },
      { tools, executionId: 'x' },
      { tools: deep },
      { tools, message: refused },
    ])
      detail(
        await h.weir.call('POST', `${flow}/jobs`, { key: h.tenant.key, body }),
        405,
        'TOOLS_REQUIRE_SYNC_EXECUTE',
      );
  });

  it('TOOLS_INVALID: toolChoice without tools is taken and refused on /jobs as on /execute', async () => {
    const plain = await h.weir.createFlow(h.tenant, [code('c', 'return 1;')]);
    for (const endpoint of ['execute', 'jobs']) {
      const send = (toolChoice: Body) =>
        h.weir.call('POST', `${plain}/${endpoint}`, {
          key: h.tenant.key,
          body: { message: 'm', toolChoice },
        });
      for (const choice of ['auto', 'none']) assert((await send(choice)).status < 300);
      detail(await send('required'), 400, 'TOOLS_INVALID');
      detail(await send('never'), 400, 'TOOLS_INVALID');
    }
  });

  it('TOOLS_INVALID: parameters that are no object, with the path', async () => {
    const asked = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'array' } } };
    const refused = detail(await h.execute(asked, { tools: [tool] }), 400, 'TOOLS_INVALID');
    assert.equal(refused.path, '/type');
    assert.match(refused.message, /^tools\.0\.function\.parameters: .* must be object/);
  });

  it('TOOLS_NOT_ENABLED: 422 when no block has the flag; without tools such a flow runs', async () => {
    const off = llm('off', 'x', MODEL, { processor_config: { tools_enabled: false } });
    const plain = await h.weir.createFlow(h.tenant, [off, code('c', 'return 1;')]);
    detail(await h.execute(plain), 422, 'TOOLS_NOT_ENABLED');
    h.models.will(answer('ok'));
    assert.equal((await h.execute(plain, { tools: [] })).body.result, 1);
    assert.equal(h.models.calls.length, 1);
  });

  it('TOOLS_IN_NON_SEQUENTIAL_STEP: 422 that names the block', async () => {
    const body = [asking('inside')];
    const nestings: Step[] = [
      { type: 'loop', step_id: 'l', name: 'l', max_iterations: 1, body },
      { type: 'parallel', step_id: 'p', name: 'p', branches: { b: body } },
    ];
    for (const step of nestings) {
      const nested = await h.weir.createFlow(h.tenant, [asking('ask'), step]);
      assert.equal(detail(await h.execute(nested), 422, 'TOOLS_IN_NON_SEQUENTIAL_STEP').step_id, 'inside');
    }
    assert.equal(h.models.calls.length, 0);
  });

  it('500 for a model that does not support tools, also one that an override chooses, before anything runs', async () => {
    const blind = await h.weir.createFlow(h.tenant, [asking('ask', 'x', { model: 'demo/no-tools' })]);
    const chosen = { block_overrides: { ask: { model: 'demo/no-tools' } } };
    for (const refused of [await h.execute(blind), await h.execute(flow, chosen)]) {
      const { message, step_id, model } = detail(refused, 500, 'MODEL_TOOLS_UNSUPPORTED');
      assert.deepEqual([step_id, model], ['ask', 'demo/no-tools']);
      assert.match(message, /demo\/no-tools.*ask.*does not support tool calling/);
    }
    const paused = await h.pauseWithTwo(flow);
    detail(await h.execute(flow, { ...resumeOf(paused), ...chosen }), 500, 'MODEL_TOOLS_UNSUPPORTED');
    await h.stillWaits(flow, paused);
  });

  it('an unknown model fails the run that comes to it, as it does without tools', async () => {
    const one = await h.weir.createFlow(h.tenant, [asking('ask')]);
    for (const model of ['nosuch/model', 'gpt-5']) {
      const chosen = { block_overrides: { ask: { model } } };
      for (const body of [chosen, { ...chosen, tools: [] }]) {
        const { status, body: run } = await h.execute(one, body);
        assert.deepEqual([status, run.status, run.code], [200, 'failed', 'MODEL_NOT_CONFIGURED']);
      }
    }
    assert.equal(h.models.calls.length, 0);
  });

  it('INSUFFICIENT_CREDITS: 402 for a resume too; it goes through once there are credits', async () => {
    const paused = await h.pauseWithTwo(flow);
    const set = (balance: unknown) =>
      sql`update organization set balance_microcredits = ${balance} where id = ${h.tenant.organizationId}`.execute(
        h.weir.db,
      );
    await set(0);
    detail(await h.execute(flow, resumeOf(paused)), 402, 'INSUFFICIENT_CREDITS');
    await set(1_000_000_000);
    await h.stillWaits(flow, paused);
  });

  it('come in the order of the interface: the largest first, then the table from its top', async () => {
    const off = await h.weir.createFlow(h.tenant, [asking('ask'), passthrough('a')]);
    const paused = await h.pauseWithTwo(off);
    const resume: Body = { ...resumeOf(paused, []), iterationsUsed: 25, pausedAtStep: 'a' };
    resume.tools = [
      { ...weather, type: 'x' },
      { ...weather, function: { name: '1' } },
    ];
    resume.block_overrides = { ask: { model: 'demo/no-tools' } };
    resume.executionId = randomUUID();
    const mend = (changes: Body) => Object.assign(resume, changes);
    const next = async (status: number, code: string) => detail(await h.execute(off, resume), status, code);
    await next(400, 'TOOLS_INVALID');
    mend({ tools: [{ ...weather, function: { name: '1' } }] });
    await next(400, 'TOOL_NAME_INVALID');
    mend({ tools: [weather] });
    await next(400, 'PAUSED_STEP_INVALID');
    mend({ pausedAtStep: 'ask' });
    await next(400, 'EXECUTION_ID_INVALID');
    mend({ executionId: paused.executionId });
    await next(400, 'TOOL_RESULTS_MISMATCH');
    mend({ toolCallMessages: resumeOf(paused).toolCallMessages });
    await next(409, 'TOOL_ITERATION_LIMIT');
    mend({ iterationsUsed: 1 });
    await next(500, 'MODEL_TOOLS_UNSUPPORTED');
    assert.equal(h.models.calls.length, 1);
  });
});
