// One sequence of calls that makes, tests and publishes a flow with every tool there is.
import assert from 'node:assert/strict';
import type { TestRun } from '../../../api/test-cases/describe-test-run.ts';

/** Calls a tool; answers the structured content. Fails when the answer is an error. */
type CallTool = (name: string, args: Record<string, unknown>) => Promise<unknown>;

/** Fails when one of the tools listed, by their names, is not called. */
export async function callEveryTool(options: {
  listed: string[];
  projectId: string;
  slug: string;
  callTool: CallTool;
}): Promise<void> {
  const { listed, projectId: project_id, slug, callTool } = options;
  const left = new Set(listed);
  const call = async (name: string, args: Record<string, unknown>) => {
    const answer = await callTool(name, args);
    left.delete(name);
    return answer as { [id: string]: string };
  };
  await call('list_projects', {});
  await call('list_models', { project_id });
  const { flow_id } = await call('create_flow', { project_id, name: 'Flow', slug });
  const { step_id } = await call('add_block', { flow_id, name: 'One', processor_type: 'code' });
  await call('update_block', { flow_id, step_id, name: 'First' });
  await call('update_block_draft', { flow_id, step_id, content: 'return {};' });
  await call('update_block_output_schema', { flow_id, step_id, content: { type: 'object' } });
  const second = await call('add_block', { flow_id, name: 'Two', processor_type: 'passthrough' });
  const move = { step_id: second.step_id, target_id: step_id, direction: 'bottom' };
  await call('edit_draft', {
    flow_id,
    edits: [
      { tool: 'move_block', arguments: move },
      { tool: 'delete_block', arguments: { step_id: second.step_id } },
    ],
  });
  const { draft_etag, steps } = await call('get_flow', { flow_id });
  await call('write_draft', { flow_id, steps, draft_etag });
  const expectation = { type: 'json_schema', schema: { type: 'object' } };
  const testCase = { flow_id, name: 'Shape', message: '', expectation };
  const { test_case_id } = await call('create_test_case', testCase);
  await call('run_test_case', { test_case_id });
  const { passed, results } = (await call('run_all_tests', { flow_id })) as never as TestRun;
  assert.equal(passed, 1);
  const { flow_run_id } = results[0] ?? {};
  await call('get_test_run_trace', { flow_run_id });
  await call('get_step_trace', { flow_run_id, step_id });
  await call('cancel_run', { flow_run_id });
  await call('delete_test_case', { test_case_id });
  const { version_id } = await call('publish_version', { flow_id, note: 'first' });
  await call('set_production_version', { flow_id, version_id });
  await call('update_block_draft', { flow_id, step_id, content: 'throw new Error("no");' });
  const failing = await call('publish_version', { flow_id, note: 'second' });
  await call('set_production_version', { flow_id, version_id: failing.version_id });
  const { flow_run } = (await call('run_flow', { flow_id, message: '' })) as never as {
    flow_run: { flow_run_id: string };
  };
  await call('rerun_run', { flow_run_id: flow_run.flow_run_id });
  await call('retry_run', { flow_run_id: flow_run.flow_run_id });
  await call('retry_runs', { flow_id });
  await call('restore_version', { flow_id, version_id });
  await call('update_flow', { flow_id, description: 'Made by every tool.' });
  await call('get_flow', { flow_id });
  await call('hydrate_project', { project_id });
  await call('list_runs', { flow_id });
  await call('delete_flow', { flow_id, confirm: slug });
  assert.ok(listed.length > 0);
  assert.deepEqual([...left], []);
}
