// Assistants run published flows and delete flows (docs/mcp.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { acceptRun } from '../../accept-run.ts';
import { useTools } from './tools-harness.ts';

describe('MCP tools', () => {
  const { tools, call, ask, createFlow, add } = useTools();
  const publish = async (flow_id: string) => {
    const { version_id } = await ask('publish_version', { flow_id, note: '' });
    await ask('set_production_version', { flow_id, version_id });
  };
  const actionsOn = async (id: string) => {
    const { db } = tools.mcp.weir;
    const entries = db.selectFrom('audit_entry').select(['actor', 'action']).where('resource_id', '=', id);
    return (await entries.orderBy('id').execute()).map(({ actor, action }) => `${actor} ${action}`);
  };
  const code = (prompt: string) => ({ processor_type: 'code', prompt });

  describe('run_flow', () => {
    it('answers the result and the receipt of a run, with parameters, and traces show what earlier steps put out', async () => {
      const flow_id = await createFlow();
      await add(flow_id, 'Extract', code('return { city: parameters.user.city };'));
      await add(flow_id, 'End', code('return message + " " + outputs.extract.city;'));
      const unpublished = await call('run_flow', { flow_id, message: 'm' });
      assert.match(unpublished.text, /^CONFLICT: .*set_production_version/);
      await publish(flow_id);
      const run = await ask('run_flow', { flow_id, message: 'in', parameters: { user: { city: 'Rome' } } });
      assert.deepEqual([run.flow_run.status, run.answer, run.notes], ['completed', 'in Rome', []]);
      assert.deepEqual(
        run.blocks.map(({ step_id, status }: { step_id: string; status: string }) => [step_id, status]),
        [
          ['extract', 'completed'],
          ['end', 'completed'],
        ],
      );
      const { flow_run_id } = run.flow_run;
      const { executions } = await ask('get_step_trace', { flow_run_id, step_id: 'extract' });
      assert.deepEqual(executions[0].output, { city: 'Rome' });
      assert.deepEqual(await actionsOn(flow_run_id), ['ada run.start']);
      const failing = await ask('run_flow', { flow_id, message: 'm', version: 1 });
      assert.deepEqual([failing.flow_run.status, failing.answer], ['failed', null]);
      assert.deepEqual([failing.flow_run.code, failing.flow_run.step_id], ['CODE_ERROR', 'extract']);
      const absent = await call('run_flow', { flow_id, message: 'm', version: 9 });
      assert.match(absent.text, /^NOT_FOUND: .*no version 9/);
    });

    it('runs once for calls that are repeated with the same key, and refuses the key with another call', async () => {
      const flow_id = await createFlow();
      await add(flow_id, 'Tell', code('return message;'));
      await publish(flow_id);
      const asked = { flow_id, message: 'in', idempotency_key: randomUUID() };
      const first = await ask('run_flow', asked);
      assert.equal(first.answer, 'in');
      assert.deepEqual(await ask('run_flow', asked), first);
      const both = { ...asked, idempotency_key: randomUUID() };
      const [one, other] = await Promise.all([ask('run_flow', both), ask('run_flow', both)]);
      assert.equal(one.flow_run.flow_run_id, other.flow_run.flow_run_id);
      assert.deepEqual(await actionsOn(first.flow_run.flow_run_id), ['ada run.start']);
      const { text } = await call('run_flow', { ...asked, message: 'another' });
      assert.match(text, /^IDEMPOTENCY_KEY_REUSED/);
    });

    it('traces prompts with the outputs that were inserted, and says which blocks ran without tools', async () => {
      const flow_id = await createFlow();
      await add(flow_id, 'Extract', code('return { items: ["a"] };'));
      await add(flow_id, 'Ask', { processor_type: 'llm', prompt: 'Say {{steps.extract.items.0}}' });
      const processor_config = { tools_enabled: true, max_retries: 0 };
      await ask('update_block', { flow_id, step_id: 'ask', model: 'demo/chat', processor_config });
      await publish(flow_id);
      const { flow_run, notes } = await ask('run_flow', { flow_id, message: 'm' });
      assert.match(notes.join(), /^ask ran without tools/);
      const trace = { flow_run_id: flow_run.flow_run_id, step_id: 'ask' };
      const { executions } = await ask('get_step_trace', trace);
      assert.equal(executions[0].sent.messages[0].content, 'Say a');
    });

    it('refuses max_credits that the interface refuses too', async () => {
      const flow_id = await createFlow();
      await publish(flow_id);
      for (const max_credits of [0, 1e300, 0.000_000_1]) {
        const refused = await call('run_flow', { flow_id, message: 'm', max_credits });
        assert.match(refused.text, /^VALIDATION_ERROR: max_credits/);
      }
      const { flow_run } = await ask('run_flow', { flow_id, message: 'm', max_credits: 0.5 });
      assert.equal(flow_run.status, 'completed');
    });

    it('says that the database takes no changes when that is why the run is not stored', async () => {
      const flow_id = await createFlow();
      await publish(flow_id);
      const { db } = tools.mcp.weir;
      await sql`create function fill_disk() returns trigger language plpgsql as
        $$ begin raise 'disk full' using errcode = '53100'; end $$`.execute(db);
      await sql`create trigger fill_disk before insert on run for each row execute function fill_disk()`.execute(
        db,
      );
      try {
        const { text } = await call('run_flow', { flow_id, message: 'm' });
        assert.equal(
          text,
          'DATABASE_UNAVAILABLE: The database takes no changes at the moment: try again later.',
        );
      } finally {
        await sql`drop function fill_disk cascade`.execute(db);
      }
    });

    it('is refused, as tests are, while as many runs are under way as the organization may have', async () => {
      const flow_id = await createFlow();
      await publish(flow_id);
      const expectation = { type: 'equals', value: 'm' };
      await ask('create_test_case', { flow_id, name: 'n', message: 'm', expectation });
      const { tenant, weir } = tools.mcp;
      const { slug } = await ask('get_flow', { flow_id });
      const { executionId } = await acceptRun(weir, tenant, `${tenant.organization}/project/${slug}`);
      await updateRunsUnderWayMax(weir.db, tenant.organizationId, 1);
      const both = [
        ['run_flow', { flow_id, message: 'm' }],
        ['run_all_tests', { flow_id }],
      ] as const;
      for (const [name, args] of both)
        assert.match(
          (await call(name, args)).text,
          /^RATE_LIMITED: The organization has 1 runs under way/,
          name,
        );
      const runs = weir.db.selectFrom('run').select('execution_id').where('flow_id', '=', flow_id);
      assert.deepEqual(await runs.execute(), [{ execution_id: executionId }]);
      await weir.db.deleteFrom('run').where('execution_id', '=', executionId).execute();
      for (const [name, args] of both) await ask(name, args);
      await updateRunsUnderWayMax(weir.db, tenant.organizationId, null);
    });

    it('needs the scope flows:run, and a flow that the user may see', async () => {
      const reader = await tools.mcp.connect(await tools.mcp.token('ada', { scope: 'flows:read' }));
      await assert.rejects(tools.mcp.callTool(reader, 'run_flow', { flow_id: randomUUID(), message: '' }));
      const flow_id = await createFlow();
      await publish(flow_id);
      const eve = await tools.mcp.connect(await tools.mcp.token('eve'));
      const foreign = await tools.mcp.callTool(eve, 'run_flow', { flow_id, message: '' });
      assert.match(foreign.text, /^NOT_FOUND/);
    });
  });

  describe('delete_flow', () => {
    it('deletes a flow for admins who repeat its slug, and leaves an entry in the audit log', async () => {
      const flow_id = await createFlow();
      const { slug } = await ask('get_flow', { flow_id });
      assert.match((await call('delete_flow', { flow_id, confirm: slug })).text, /^FORBIDDEN/);
      await tools.mcp.join('grace', 'admin');
      const admin = await tools.mcp.connect(await tools.mcp.token('grace'));
      const refused = await call('delete_flow', { flow_id, confirm: 'other' }, admin);
      assert.match(refused.text, /confirm: must be the slug/);
      assert.deepEqual(await ask('delete_flow', { flow_id, confirm: slug }, admin), { flow_id, slug });
      assert.match((await call('get_flow', { flow_id })).text, /^NOT_FOUND/);
      assert.deepEqual(await actionsOn(flow_id), ['ada flow.create', 'grace flow.delete']);
    });

    it('needs the scope flows:publish', async () => {
      const scope = 'flows:read flows:write flows:run';
      const writer = await tools.mcp.connect(await tools.mcp.token('ada', { scope }));
      const args = { flow_id: randomUUID(), confirm: 'x' };
      await assert.rejects(tools.mcp.callTool(writer, 'delete_flow', args));
    });
  });
});
