// Assistants run stored runs again (docs/mcp.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { useTools } from './tools-harness.ts';

describe('rerun_run, retry_run and retry_runs', () => {
  const { tools, call, ask, createFlow, add } = useTools();
  const publish = async (flow_id: string) => {
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    await ask('set_production_version', { flow_id, version_id });
  };
  /** A run that has failed in the second block, which version 2 mends. */
  const failThenMend = async () => {
    const flow_id = await createFlow();
    await add(flow_id, 'First', { processor_type: 'code', prompt: 'return message;' });
    await add(flow_id, 'Second', { processor_type: 'code', prompt: 'throw new Error("no");' });
    await publish(flow_id);
    const { flow_run } = await ask('run_flow', { flow_id, message: 'm' });
    assert.equal(flow_run.status, 'failed');
    await ask('update_block_draft', { flow_id, step_id: 'second', content: 'return input + "!";' });
    await publish(flow_id);
    return { flow_id, flow_run_id: flow_run.flow_run_id as string };
  };
  /** Waits until a run has ended; answers its trace. */
  const finish = async (flow_id: string, flow_run_id: string) => {
    const { slug } = await ask('get_flow', { flow_id });
    const { weir, tenant } = tools.mcp;
    await weir.finish(`${tenant.organization}/project/${slug}`, flow_run_id, tenant.key);
    return ask('get_test_run_trace', { flow_run_id });
  };

  it('run a run again in the version that is named, once for each key, and record who did', async () => {
    const { flow_id, flow_run_id } = await failThenMend();
    const original = await ask('rerun_run', { flow_run_id });
    assert.deepEqual([original.repeats, original.version], [flow_run_id, 1]);
    assert.equal(original.begins_at.step_id, 'first');
    assert.equal((await finish(flow_id, original.flow_run_id)).flow_run.status, 'failed');

    const { db } = tools.mcp.weir;
    const ofTest = { environment: 'test' } as const;
    await db.updateTable('run').set(ofTest).where('execution_id', '=', flow_run_id).execute();
    const asked = { flow_run_id, version: 'production', idempotency_key: randomUUID() };
    const retried = await ask('retry_run', asked);
    assert.deepEqual([retried.version, retried.begins_at.step_id], [2, 'second']);
    assert.deepEqual(await ask('retry_run', asked), retried);
    const { flow_run } = await finish(flow_id, retried.flow_run_id);
    assert.deepEqual([flow_run.status, flow_run.version, flow_run.answer], ['completed', 2, 'm!']);
    const stored = db.selectFrom('run').select('environment').where('execution_id', '=', retried.flow_run_id);
    assert.deepEqual(await stored.executeTakeFirst(), ofTest);
    const entries = db.selectFrom('audit_entry').select(['actor', 'action']);
    assert.deepEqual(await entries.where('resource_id', '=', retried.flow_run_id).execute(), [
      { actor: 'ada', action: 'run.start' },
    ]);
  });

  it('retry the failed runs of a flow, and say beforehand which', async () => {
    const { flow_id, flow_run_id } = await failThenMend();
    const dry = await ask('retry_runs', { flow_id, dry_run: true });
    assert.deepEqual([dry.matching, dry.retried], [[flow_run_id], []]);
    const none = await ask('retry_runs', { flow_id, error_code: 'MODEL_UNAVAILABLE' });
    assert.deepEqual(none.retried, []);
    const { retried, refused, stopped_by, next } = await ask('retry_runs', { flow_id, on_version: 2 });
    assert.deepEqual([refused, stopped_by, next], [[], null, null]);
    assert.deepEqual([retried[0].repeats, retried[0].version], [flow_run_id, 2]);
    const { flow_run } = await finish(flow_id, retried[0].flow_run_id);
    assert.equal(flow_run.status, 'completed');
  });

  it('refuse runs of others, unknown versions and runs that have not failed', async () => {
    const { flow_id, flow_run_id } = await failThenMend();
    assert.match((await call('retry_run', { flow_run_id: randomUUID() })).text, /^NOT_FOUND: /);
    const stranger = await tools.mcp.connect(await tools.mcp.token('eve'));
    assert.match((await call('retry_run', { flow_run_id }, stranger)).text, /^NOT_FOUND: /);
    assert.match((await call('retry_runs', { flow_id }, stranger)).text, /^NOT_FOUND: /);
    assert.match((await call('rerun_run', { flow_run_id, version: 9 })).text, /^FLOW_NOT_FOUND: /);
    assert.match((await call('retry_runs', { flow_id, error_code: 'NO' })).text, /^VALIDATION_ERROR: /);
    const done = await ask('retry_run', { flow_run_id, version: 'production' });
    await finish(flow_id, done.flow_run_id);
    const refused = await call('retry_run', { flow_run_id: done.flow_run_id });
    assert.match(refused.text, /^CONFLICT: Only a failed run can be retried/);
  });
});
