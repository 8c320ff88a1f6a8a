import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { endSuspension, suspendOrganization } from '../../../db/tenants/organizations.ts';
import { useTools } from './tools-harness.ts';

describe('MCP tools of a suspended organization', () => {
  const { tools, call, ask, createFlow, add } = useTools();

  it('run and test nothing, answer a run that was accepted before, and read and edit', async () => {
    const { weir, tenant } = tools.mcp;
    const flow_id = await createFlow();
    await add(flow_id, 'A');
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    await ask('set_production_version', { flow_id, version_id });
    const expectation = { type: 'equals', value: 'm' };
    const created = await ask('create_test_case', { flow_id, name: 'n', message: 'm', expectation });
    const { test_case_id } = created;
    const asked = { flow_id, message: 'm', idempotency_key: randomUUID() };
    const earlier = await ask('run_flow', asked);
    const { organizationId } = tenant;
    await weir.db.transaction().execute((tx) => suspendOrganization(tx, organizationId, 'runaway loop'));
    const refused = [
      await call('run_flow', { flow_id, message: 'm' }),
      await call('run_test_case', { test_case_id }),
      await call('run_all_tests', { flow_id }),
    ];
    for (const { isError, text } of refused) {
      assert.equal(isError, true);
      assert.match(text, /^FORBIDDEN: The operator of the service has suspended .* runaway loop/);
    }
    assert.deepEqual(await ask('run_flow', asked), earlier);
    assert.equal((await weir.db.selectFrom('run').select('execution_id').execute()).length, 1);
    assert.deepEqual(await weir.db.selectFrom('test_run').select('id').execute(), []);
    await add(flow_id, 'B');
    await ask('get_test_run_trace', { flow_run_id: earlier.flow_run.flow_run_id });
    await weir.db.transaction().execute((tx) => endSuspension(tx, organizationId));
    assert.equal((await ask('run_all_tests', { flow_id })).passed, 1);
  });
});
