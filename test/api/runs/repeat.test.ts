import assert from 'node:assert/strict';
import { requireRepeatable } from '../../../api/runs/calls/accept-repeat.ts';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

const refuse = respond(400, { error: { message: 'not today' } });

describe('running a stored run again', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  const execute = async (flow: string, body: object = {}, headers = {}) =>
    (
      await weir.call('POST', `${flow}/execute`, {
        key: weir.tenant.key,
        body: { message: 'm', ...body },
        headers,
      })
    ).body;
  const repeat = (flow: string, executionId: string, how: string, headers = {}) =>
    weir.call('POST', `${flow}/jobs/${executionId}/${how}`, { key: weir.tenant.key, headers });
  /** Repeats a run; resolves with the state of the new run once that has ended. */
  const finished = async (flow: string, executionId: string, how: string, headers = {}) => {
    const { status, body } = await repeat(flow, executionId, how, headers);
    assert.equal(status, 202, JSON.stringify(body));
    return (await weir.finish(flow, body.executionId, weir.tenant.key)).body;
  };
  const input = async (executionId: string) => {
    const row = await weir.db
      .selectFrom('run')
      .select('input')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    return row.input;
  };

  describe('POST …/jobs/{executionId}/rerun', () => {
    it('starts a job with the input, the overrides and the version of the run, whatever is in production', async () => {
      const flow = await weir.createFlow(weir.tenant, [code('a', 'return [message, parameters.tone];')]);
      const first = await execute(flow, {
        parameters: { tone: 'dry' },
        maxCredits: 3,
        block_overrides: { a: { processor_config: { timeout_ms: 9_000 } } },
      });
      const { id } = await weir.db
        .selectFrom('flow')
        .select('id')
        .where('slug', '=', flow.split('/')[2] as string)
        .executeTakeFirstOrThrow();
      await setProductionVersion(weir.db, id, await publishVersion(weir.db, id, 'again'));
      const again = await finished(flow, first.executionId, 'rerun');
      assert.notEqual(again.executionId, first.executionId);
      assert.deepEqual(again.result, ['m', 'dry']);
      assert.deepEqual(
        [again.version, again.mode, again.repeats, again.keyId],
        [1, 'jobs', first.executionId, weir.tenant.keyId],
      );
      assert.deepEqual(await input(again.executionId), await input(first.executionId));
    });

    it('answers a repeated request with the same run, and refuses its key for another', async () => {
      const flow = await weir.createFlow(weir.tenant, []);
      const [one, two] = [await execute(flow), await execute(flow)];
      const headers = { 'idempotency-key': 'again' };
      const first = await repeat(flow, one.executionId, 'rerun', headers);
      const second = await repeat(flow, one.executionId, 'rerun', headers);
      assert.equal(second.body.executionId, first.body.executionId);
      assert.equal(second.headers.get('idempotent-replayed'), 'true');
      const other = await repeat(flow, two.executionId, 'rerun', headers);
      assert.deepEqual([other.status, other.body.detail.code], [409, 'IDEMPOTENCY_KEY_REUSED']);
    });

    it('needs the model keys that the run was started with, which were cleared at its end', async () => {
      const flow = await weir.createFlow(weir.tenant, []);
      const headers = { 'x-weir-model-key': 'demo=sk-mine' };
      const { executionId } = await execute(flow, {}, headers);
      const refused = await repeat(flow, executionId, 'rerun');
      assert.deepEqual([refused.status, refused.body.detail.errors[0].field], [422, 'X-Weir-Model-Key']);
      assert.match(refused.body.detail.message, /a key for demo/);
      assert.equal((await finished(flow, executionId, 'rerun', headers)).status, 'completed');
    });

    it('is refused for sessions, runs with tools and runs of drafts', async () => {
      const flow = await weir.createFlow(weir.tenant, [
        llm('ask', '{{message}}', 'demo/chat', { processor_config: { tools_enabled: true } }),
      ]);
      const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
      weir.models.will(answer('done'));
      const { executionId } = await execute(flow, { tools });
      const refused = await repeat(flow, executionId, 'rerun');
      assert.deepEqual([refused.status, refused.body.detail.code], [409, 'CONFLICT']);
      assert.match(refused.body.detail.message, /started with tools/);

      const sessions = weir.db
        .updateTable('run')
        .set({ mode: 'step' })
        .where('execution_id', '=', executionId);
      await sessions.execute();
      const session = await repeat(flow, executionId, 'rerun');
      assert.deepEqual([session.status, session.body.detail.code], [409, 'CONFLICT']);
      assert.match(session.body.detail.message, /session/);
    });

    it('is refused without credits', async () => {
      const poor = await weir.createTenant({ credits: 1 });
      const flow = await weir.createFlow(poor, []);
      const { body } = await weir.call('POST', `${flow}/execute`, { key: poor.key, body: { message: '' } });
      await weir.db
        .updateTable('organization')
        .set({ balance_microcredits: 0 })
        .where('id', '=', poor.organizationId)
        .execute();
      const { status } = await weir.call('POST', `${flow}/jobs/${body.executionId}/rerun`, { key: poor.key });
      assert.equal(status, 402);
    });
  });

  describe('POST …/jobs/{executionId}/retry', () => {
    it('runs and charges only what the failed run has not completed', async () => {
      const flow = await weir.createFlow(weir.tenant, [
        llm('first', '{{message}}', 'demo/chat'),
        code('second', 'return input.split(" ")[0];'),
        llm('third', '{{steps.first}} {{previous_output}} {{message}}', 'demo/chat'),
        code('last', 'return [outputs.first, input, message];'),
      ]);
      weir.models.will(answer('one two'), refuse);
      const failed = await execute(flow);
      assert.deepEqual([failed.status, failed.step_id], ['failed', 'third']);
      weir.models.will(answer('three'));
      const calls = weir.models.calls.length;
      const again = await finished(flow, failed.executionId, 'retry');
      assert.deepEqual(again.result, ['one two', 'three', 'm']);
      assert.equal(weir.models.calls.length, calls + 1);
      assert.match(JSON.stringify(weir.models.calls.at(-1)?.body), /one two one m/);
      assert.deepEqual(
        again.blocks.map((block: { key: string }) => block.key),
        ['third', 'last'],
      );
      assert.equal(await weir.charges(again.executionId), 1);
      assert.equal(again.repeats, failed.executionId);
    });

    it('can be retried itself, from a later step, with the outputs that it was given', async () => {
      const flow = await weir.createFlow(weir.tenant, [
        code('first', 'return message + "!";'),
        llm('second', '{{message}}', 'demo/chat'),
        llm('third', '{{steps.first}}', 'demo/chat'),
      ]);
      weir.models.will(refuse);
      const first = await execute(flow);
      weir.models.will(answer('b'), refuse);
      const second = await finished(flow, first.executionId, 'retry');
      assert.deepEqual([second.status, second.step_id], ['failed', 'third']);
      weir.models.will(answer('c'));
      const third = await finished(flow, second.executionId, 'retry');
      assert.deepEqual([third.result, third.blocks.length], ['c', 1]);
      assert.match(JSON.stringify(weir.models.calls.at(-1)?.body), /m!/);
      // From its beginning, it takes nothing from any run.
      weir.models.will(answer('d'), answer('e'));
      const rerun = await finished(flow, second.executionId, 'rerun');
      assert.deepEqual([rerun.result, rerun.blocks.length], ['e', 3]);
    });

    it('begins with the loop in which a block failed, and with the first step where that failed', async () => {
      const flow = await weir.createFlow(weir.tenant, [
        llm('list', '{{message}}', 'demo/chat', {
          outputSchema: { type: 'array', items: { type: 'string' } },
        }),
        {
          type: 'loop',
          step_id: 'each',
          name: 'each',
          max_iterations: 5,
          body: [llm('ask', '{{previous_output}}', 'demo/chat')],
        },
      ]);
      weir.models.will(refuse);
      const first = await execute(flow);
      assert.equal(first.step_id, 'list');
      weir.models.will(answer('["x", "y"]'), answer('X'), refuse);
      const second = await finished(flow, first.executionId, 'retry');
      assert.deepEqual([second.status, second.step_id], ['failed', 'ask']);
      weir.models.forget();
      weir.models.will(answer('Y'));
      const third = await finished(flow, second.executionId, 'retry');
      assert.deepEqual(third.result, ['X', 'Y']);
      assert.deepEqual(
        third.blocks.map((block: { key: string }) => block.key),
        ['ask#0', 'ask#1'],
      );
    });

    it('of a paused run names /execute, since a run with tools is not run again either', () => {
      const paused = { version: 1, mode: 'execute', status: 'tool_calls_required' } as const;
      assert.throws(
        () => requireRepeatable(paused, 'retry'),
        ({ message }: Error) => message.includes('…/execute') && !message.includes('…/rerun'),
      );
    });

    it('takes up a cancelled run, and is refused for one that has not failed', async () => {
      const flow = await weir.createFlow(weir.tenant, [
        passthrough('before'),
        llm('ask', '{{message}}', 'demo/chat'),
      ]);
      const { executionId } = await weir.startHeld(flow);
      const early = await repeat(flow, executionId, 'retry');
      assert.deepEqual([early.status, early.body.detail.code], [409, 'CONFLICT']);
      assert.match(early.body.detail.message, /this one is started/);
      await weir.cancel(flow, executionId);
      await weir.finish(flow, executionId, weir.tenant.key);
      weir.models.will(answer('here'));
      const again = await finished(flow, executionId, 'retry');
      assert.deepEqual([again.result, again.blocks.length], ['here', 1]);
      assert.equal((await repeat(flow, again.executionId, 'retry')).status, 409);
    });
  });
});
