// A resume that failed for a reason that may pass goes on from its pause when it is sent again.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { countUsage, RUNS } from '../../../db/usage/count-usage.ts';
import { code } from '../../blocks.ts';
import { answer, callTools, respond } from '../../fakes/model-server.ts';
import { createStepClient, names, only, type StepClient, resumeOf as stepResumeOf } from './step-client.ts';
import {
  asking,
  type Body,
  CALL_MICROCREDITS,
  detail,
  resultsOf,
  resumeOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

const unavailable = respond(503, { error: { message: 'overloaded' } });
const rejected = respond(401, { error: { message: 'no such key' } });
const own = (key: string) => ({ headers: { 'x-weir-model-key': `openai=${key}` } });
const once = { processor_config: { max_retries: 0 } };

describe('a resume that failed', () => {
  const h = useToolCalls();
  let flow: string;
  let client: StepClient;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [code('a', 'return 1;'), asking('ask', 'x', once)]);
    client = await createStepClient(h.weir, h.tenant);
  });
  const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed');
  const pause = () => {
    h.models.will(callTools([toolCall('c1')]));
    return h.pause(flow);
  };
  /** A paused run whose resume has failed so. */
  async function failed(code: string, behaviour = unavailable, options: object = {}): Promise<Body> {
    const paused = await pause();
    h.models.will(behaviour);
    const { status, body } = await h.execute(flow, resumeOf(paused), options);
    assert.deepEqual([status, body.status, body.code], [200, 'failed', code], JSON.stringify(body));
    return paused;
  }
  async function setBalance(balance_microcredits: number): Promise<void> {
    const { organizationId } = h.tenant;
    await h.weir.db
      .updateTable('organization')
      .set({ balance_microcredits })
      .where('id', '=', organizationId)
      .execute();
  }

  describe('of /execute, sent again', () => {
    it('goes on from the pause in the same run while its provider was away, as often as it takes', async () => {
      const paused = await pause();
      h.models.will(unavailable, unavailable, answer('done'));
      for (const expected of ['failed', 'failed', 'completed']) {
        const answered = await h.execute(flow, resumeOf(paused));
        assert.deepEqual(
          [answered.body.status, replayed(answered)],
          [expected, null],
          answered.body.errorMessage,
        );
        assert.equal(answered.body.executionId, paused.executionId);
        assert.equal((await h.read(flow, paused.executionId)).body.status, expected);
      }
      const again = await h.execute(flow, resumeOf(paused));
      assert.deepEqual([again.body.result, replayed(again)], ['done', 'true']);
      assert.deepEqual(h.models.calls.at(-1)?.body.messages, h.models.calls.at(-2)?.body.messages);
      assert.deepEqual(await h.charges(paused.executionId), Array(2).fill(CALL_MICROCREDITS));
      const { body: state } = await h.read(flow, paused.executionId);
      assert.deepEqual([state.result, state.code, state.errorMessage], ['done', undefined, undefined]);
    });

    it('makes the run one that completed in the usage, and none that failed', async () => {
      const steps = [asking('ask', 'x', once)];
      const counted = await h.weir.createFlow(h.tenant, steps);
      h.models.will(callTools([toolCall('c1')]), unavailable, answer('done'));
      const paused = await h.pause(counted);
      for (const status of ['failed', 'completed'])
        assert.equal((await h.execute(counted, resumeOf(paused))).body.status, status);
      while ((await countUsage(h.weir.db, 1_000)) > 0);
      const rows = await h.weir.db
        .selectFrom('usage')
        .select(['count', 'failures'])
        .where('flow_id', '=', paused.flowId)
        .where('subject', '=', RUNS)
        .execute();
      const sum = (values: number[]) => values.reduce((total, value) => total + Number(value), 0);
      assert.deepEqual([sum(rows.map((row) => row.count)), sum(rows.map((row) => row.failures))], [1, 0]);
    });

    it('goes on with another own key', async () => {
      h.models.will(callTools([toolCall('c1')]), rejected, answer('done'));
      const paused = (await h.execute(flow, {}, own('sk-right'))).body;
      const refused = await h.execute(flow, resumeOf(paused), own('sk-wrong'));
      assert.equal(refused.body.failureReason, 'byok_rejected', JSON.stringify(refused.body));
      const { body } = await h.execute(flow, resumeOf(paused), own('sk-right'));
      assert.equal(body.result, 'done', body.errorMessage);
      assert.equal(h.models.calls.at(-1)?.headers.authorization, 'Bearer sk-right');
    });

    it('goes on when credits were granted', async () => {
      const paused = await pause();
      await setBalance(1);
      const refused = await h.execute(flow, resumeOf(paused));
      await setBalance(1_000_000_000);
      assert.equal(refused.body.failureReason, 'credits_exhausted', JSON.stringify(refused.body));
      h.models.will(answer('done'));
      assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'done');
    });

    it('may pause again', async () => {
      const paused = await failed('MODEL_UNAVAILABLE');
      h.models.will(callTools([toolCall('c2')]), answer('done'));
      const { body } = await h.execute(flow, resumeOf(paused));
      assert.deepEqual([body.status, body.iterationsUsed], ['tool_calls_required', 2]);
      assert.equal((await h.execute(flow, resumeOf(body))).body.result, 'done');
    });

    it('several times at once is one more run of the block', async () => {
      const paused = await failed('MODEL_UNAVAILABLE');
      const asked = h.models.calls.length;
      h.models.will(answer('done'));
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => h.execute(flow, resumeOf(paused))));
      for (const { body } of answers) assert.equal(body.result, 'done', JSON.stringify(body));
      assert.equal(answers.filter((each) => replayed(each) === null).length, 1);
      assert.equal(h.models.calls.length, asked + 1);
    });

    it('with its Idempotency-Key gets its failure again, and goes on with another key', async () => {
      const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
      const paused = await failed('MODEL_UNAVAILABLE', unavailable, keyed('one'));
      h.models.will(answer('done'));
      const again = await h.execute(flow, resumeOf(paused), keyed('one'));
      assert.deepEqual([again.body.code, replayed(again)], ['MODEL_UNAVAILABLE', 'true']);
      for (const key of ['two', 'two', 'three'])
        assert.equal((await h.execute(flow, resumeOf(paused), keyed(key))).body.result, 'done');
    });

    it('with anything changed is refused', async () => {
      const paused = await failed('MODEL_UNAVAILABLE');
      h.models.will(answer('done'));
      const results = resultsOf(paused).map((result: Body) => ({ ...result, content: 'other' }));
      const other = await h.execute(flow, resumeOf(paused, results));
      assert.match(detail(other, 400, 'EXECUTION_ID_INVALID').message, /has failed or was cancelled/);
      assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'done');
    });

    for (const [code, behaviour] of [
      ['MODEL_REQUEST_INVALID', respond(400, { error: { message: 'no' } })],
      ['MODEL_NOT_FOUND', respond(404, { error: { message: 'no' } })],
      ['MODEL_REFUSED', answer(null, { refusal: 'no' })],
      ['MODEL_OUTPUT_INCOMPLETE', answer('do', { finish_reason: 'length' })],
      ['MODEL_OUTPUT_INVALID', respond(200, { choices: [{ message: { content: 7 } }] })],
    ] as const)
      it(`goes on from the pause after ${code}, since another answer may do`, async () => {
        const paused = await failed(code, behaviour);
        h.models.will(answer('done'));
        assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'done');
      });

    it('gets its failure again where that would not pass', async () => {
      const ends = await h.weir.createFlow(h.tenant, [asking('ask'), code('bad', 'throw new Error("no");')]);
      h.models.will(callTools([toolCall('c1')]), answer('done'));
      const paused = await h.pause(ends);
      const { body } = await h.execute(ends, resumeOf(paused));
      const asked = h.models.calls.length;
      const again = await h.execute(ends, resumeOf(paused));
      assert.deepEqual([again.body.code, replayed(again)], [body.code, 'true']);
      assert.equal(h.models.calls.length, asked);
    });
  });

  describe('of /step, sent again', () => {
    async function failedSession(change: object = {}) {
      const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 1 }, tools: [weather] };
      h.models.will(callTools([toolCall('c1')]), unavailable);
      const resume = { ...stepResumeOf(call, await client.step(flow, call)), ...change };
      assert.equal(only(await client.step(flow, resume), 'run_failed').code, 'MODEL_UNAVAILABLE');
      return { executionId, call, resume };
    }

    it('goes on from the pause of the session', async () => {
      const { executionId, resume } = await failedSession();
      h.models.will(unavailable, answer('done'));
      assert.deepEqual(names(await client.step(flow, resume)), ['block_started', 'run_failed']);
      const events = await client.step(flow, resume);
      assert.equal(only(events, 'run_completed').result, 'done');
      assert.deepEqual(await client.step(flow, resume), events);
      assert.equal((await h.read(flow, executionId)).body.status, 'completed');
    });

    it('goes on from the pause of a first call, wherever the row of its session lies in the table', async () => {
      const asks = await h.weir.createFlow(h.tenant, [asking('ask', 'x', once)]);
      const call = { stepIndex: 0, message: 'm', tools: [weather] };
      h.models.will(callTools([toolCall('c1')]), unavailable, answer('done'));
      const paused = await client.step(asks, call);
      const { executionId } = only(paused, 'run_started');
      const resume = stepResumeOf({ ...call, executionId }, paused);
      only(await client.step(asks, resume), 'run_failed');
      const { db } = h.weir;
      await sql`update run set mode = mode where continues = ${executionId} and pause is not null`.execute(
        db,
      );
      assert.equal(only(await client.step(asks, resume), 'run_completed').result, 'done');
    });

    it('takes the outputs of the pause where it leaves them out', async () => {
      const { executionId, resume } = await failedSession({ accumulatedOutputs: undefined });
      h.models.will(callTools([toolCall('c2')]));
      const pause = only(await client.step(flow, resume), 'step_paused_for_tool_calls');
      assert.deepEqual([pause.executionId, pause.accumulatedOutputs], [executionId, { a: 1 }]);
    });

    it('gets its failure again once the session has gone on', async () => {
      const { call, resume } = await failedSession();
      h.models.will(unavailable);
      only(await client.step(flow, call), 'run_failed');
      const asked = h.models.calls.length;
      only(await client.step(flow, resume), 'run_failed');
      assert.equal(h.models.calls.length, asked);
    });

    it('gets its failure again where another call of the session was made before it failed', async () => {
      const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 1 }, tools: [weather] };
      h.models.will(callTools([toolCall('c1')]));
      const resume = stepResumeOf(call, await client.step(flow, call));
      const held = Promise.withResolvers<ServerResponse>();
      h.models.will(held.resolve);
      const resumed = client.step(flow, resume);
      const response = await held.promise;
      h.models.will(callTools([toolCall('c2')]));
      only(await client.step(flow, call), 'step_paused_for_tool_calls');
      unavailable(response);
      assert.equal(only(await resumed, 'run_failed').code, 'MODEL_UNAVAILABLE');
      const asked = h.models.calls.length;
      only(await client.step(flow, resume), 'run_failed');
      assert.equal(h.models.calls.length, asked);
    });

    it('need not be: the session can be forked at its step', async () => {
      const { executionId } = await failedSession();
      const { body: fork } = await h.read(flow, executionId, '/fork?step=1');
      assert.deepEqual([fork.stepIndex, fork.accumulatedOutputs], [1, { a: 1 }]);
      h.models.will(answer('anew'));
      assert.equal(only(await client.step(flow, fork), 'run_completed').result, 'anew');
    });
  });
});
