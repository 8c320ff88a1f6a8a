import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { code, passthrough } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('POST …/jobs and GET …/jobs/{executionId}', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const start = (path: string, body: unknown) => weir.call('POST', `${path}/jobs`, { key: tenant.key, body });

  it('accepts with 202 started, then answers completed with result, version, timings and per-block usage', async () => {
    const flow = await weir.createFlow(tenant, [
      code('list', 'return [1, 2];'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 5, body: [passthrough('item')] },
    ]);
    const accepted = await start(`${flow}/v1`, { message: 'm' });
    assert.equal(accepted.status, 202);
    assert.deepEqual(Object.keys(accepted.body), ['executionId', 'status', 'flowId', 'blockCount']);
    assert.deepEqual([accepted.body.status, accepted.body.blockCount], ['started', 2]);

    const { status, body } = await weir.finish(flow, accepted.body.executionId, tenant.key);
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.result, body.version, body.mode], ['completed', [1, 2], 1, 'jobs']);
    assert.equal(body.durationMs, Date.parse(body.finishedAt) - Date.parse(body.startedAt));
    assert.deepEqual(
      body.blocks.map((block: { key: string; status: string; attempts: number }) => [
        block.key,
        block.status,
        block.attempts,
      ]),
      [
        ['list', 'completed', 1],
        ['item#0', 'completed', 1],
        ['item#1', 'completed', 1],
      ],
    );
    assert.deepEqual(Object.keys(body.blocks[0].usage), [
      'promptTokens',
      'cachedTokens',
      'cacheWriteTokens',
      'completionTokens',
      'reasoningTokens',
      'cost',
      'ms',
    ]);
  });

  it('answers failed with errorMessage and failureReason', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('first'), code('second', 'return nothing;')]);
    const { body } = await weir.finish(
      flow,
      (await start(flow, { message: '' })).body.executionId,
      tenant.key,
    );
    assert.deepEqual([body.status, body.failureReason, 'result' in body], ['failed', 'error', false]);
    assert.match(body.errorMessage, /nothing is not defined/);
    assert.deepEqual(
      body.blocks.map((block: { status: string }) => block.status),
      ['completed', 'failed'],
    );
  });

  it('finds a run of /execute too', async () => {
    const flow = await weir.createFlow(tenant, []);
    const { executionId } = (
      await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'x' } })
    ).body;
    const { body } = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
    assert.deepEqual([body.status, body.result, body.mode], ['completed', 'x', 'execute']);
  });

  it('has a path with the version for the state of a run alone', async () => {
    const flow = await weir.createFlow(tenant, []);
    const { executionId } = (await start(`${flow}/v1`, { message: 'x' })).body;
    const { body: pinned } = await weir.finish(`${flow}/v1`, executionId, tenant.key);
    const { body } = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
    assert.deepEqual(pinned, body);
    for (const [method, rest] of [
      ...['events', 'blocks', 'blocks/a', 'blocks/a/output', 'request', 'flow', 'fork?step=0'].map(
        (path) => ['GET', path] as const,
      ),
      ...['cancel', 'rerun', 'retry'].map((path) => ['POST', path] as const),
    ]) {
      const path = `${flow}/v1/jobs/${executionId}/${rest}`;
      const { status, body } = await weir.call(method, path, { key: tenant.key });
      assert.deepEqual([status, body.detail.code], [404, 'NOT_FOUND'], path);
    }
  });

  it('answers 405 TOOLS_REQUIRE_SYNC_EXECUTE when tools are sent', async () => {
    const { status, headers, body } = await start(await weir.createFlow(tenant, []), {
      message: '',
      tools: [],
    });
    assert.deepEqual([status, body.detail.code], [405, 'TOOLS_REQUIRE_SYNC_EXECUTE']);
    assert.equal(headers.get('allow'), 'POST');
  });

  it('answers the same 404 RUN_NOT_FOUND for an unknown run, a foreign run and a malformed id', async () => {
    const flow = await weir.createFlow(tenant, []);
    const other = await weir.createFlow(tenant, []);
    const { executionId } = (await start(other, { message: '' })).body;
    const answers = await Promise.all(
      [executionId, randomUUID(), 'nonsense', '%00'].map((id) =>
        weir.call('GET', `${flow}/jobs/${id}`, { key: tenant.key }),
      ),
    );
    for (const answer of answers) {
      assert.equal(answer.status, 404);
      assert.equal(answer.body.detail.code, 'RUN_NOT_FOUND');
      assert.deepEqual(answer.body, answers[0]?.body);
    }
  });
});
