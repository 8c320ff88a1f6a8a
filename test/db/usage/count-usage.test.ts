// What runs and their blocks add to usage, once each.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { deleteOld } from '../../../db/upkeep/delete-old.ts';
import { countUsage } from '../../../db/usage/count-usage.ts';
import { COMPLETED, useUsage } from './usage-fixture.ts';

const FAILED = { status: 'failed', error: { code: 'CODE_ERROR', message: 'no', reason: 'error' } } as const;
const REFUSED = {
  status: 'failed',
  error: { code: 'MODEL_REFUSED', message: 'no', reason: 'error' },
} as const;
const PAUSED = {
  status: 'tool_calls_required',
  pause: { step_id: 'ask', iterations: 1, tool_call_ids: [] },
} as never;

describe('usage', () => {
  const { fixture, total, by, accept, charge, count } = useUsage();

  it('is what was charged, with the runs, calls and tokens, once a run has ended and not before', async () => {
    const callId = await accept();
    await charge(callId, 'a', 700);
    await charge(callId, 'b', 50, { error: { code: 'MODEL_REFUSED', message: 'no' } });
    assert.equal(await count(), 0);
    await finishRun(fixture.database.db, callId, FAILED);
    assert.equal(await count(), 750);
    const { microcredits, runs, failed_runs, model_calls, failed_model_calls, ...rest } = await total();
    assert.deepEqual([microcredits, runs, failed_runs, model_calls, failed_model_calls], [750, 1, 1, 2, 1]);
    assert.deepEqual([rest.prompt_tokens, rest.completion_tokens, rest.refused], [20, 4, 0]);
  });

  it('has cached tokens, cache writes of any duration and reasoning apart', async () => {
    const cache = { cachedTokens: 5, cacheWriteTokens: 2, cacheWriteHourTokens: 1 };
    const callId = await accept();
    for (const key of ['a', 'b']) await charge(callId, key, 7, { ...cache, reasoningTokens: 1 });
    await finishRun(fixture.database.db, callId, COMPLETED);
    await count();
    for (const sums of [await total(), ...(await by('model'))])
      assert.deepEqual(
        [sums.cached_tokens, sums.cache_write_tokens, sums.reasoning_tokens, sums.prompt_tokens],
        [10, 6, 2, 20],
      );
  });

  it('counts calls with own keys, which cost nothing, and code that costs credits, as no model', async () => {
    const callId = await accept();
    await charge(callId, 'own', 0);
    await charge(callId, 'code', 30, { model: undefined, promptTokens: 0, completionTokens: 0 });
    await charge(callId, 'free code', 0, { model: undefined });
    await finishRun(fixture.database.db, callId, COMPLETED);
    await count();
    const models = (await by('model')).map(({ id, microcredits, model_calls }) => [
      id,
      microcredits,
      model_calls,
    ]);
    assert.deepEqual(models, [
      ['code', 30, 0],
      ['demo/chat', 0, 1],
    ]);
    const { model_calls, microcredits } = await total();
    assert.deepEqual([model_calls, microcredits], [1, 30]);
  });

  it('counts a run once that pauses and is resumed, and the blocks of both calls', async () => {
    const run = await accept({ mode: 'execute' });
    await charge(run, 'a', 5);
    await finishRun(fixture.database.db, run, PAUSED);
    assert.equal(await count(), 5);
    assert.equal((await total()).runs, 0);
    const continues = { executionId: run, from: 0, to: 1, concludes: true };
    const resumed = await accept({ mode: 'execute', continues });
    await charge(resumed, 'a', 7);
    await finishRun(fixture.database.db, resumed, COMPLETED);
    assert.equal(await count(), 12);
    const { runs, failed_runs, run_p50, model_calls } = await total();
    // The caller took its time in between: that is not the latency of the run.
    assert.deepEqual([runs, failed_runs, run_p50, model_calls], [1, 0, null, 2]);
  });

  it('counts a session once, as it ended last, though it was continued after its end', async () => {
    const session = await accept({ mode: 'step', status: 'in_progress' });
    for (const [outcome, failures, refusals] of [
      [FAILED, 1, 0],
      [COMPLETED, 0, 0],
      [REFUSED, 0, 1],
      [FAILED, 1, 0],
    ] as const) {
      const continues = { executionId: session, from: 0, to: 1, concludes: true };
      const callId = await accept({ mode: 'step', continues });
      await charge(callId, 'a', 3);
      await finishRun(fixture.database.db, callId, outcome);
      await count();
      const { runs, failed_runs, refused_runs } = await total();
      assert.deepEqual([runs, failed_runs, refused_runs], [1, failures, refusals]);
    }
    assert.equal((await total()).microcredits, 12);
  });

  it('counts a cancelled run as cancelled, whether it was under way or waited for its caller', async () => {
    const waiting = await accept({ mode: 'execute' });
    await charge(waiting, 'ask', 0, { paused: true });
    await finishRun(fixture.database.db, waiting, PAUSED);
    await sql`update run set started_at = started_at - interval '3 days' where execution_id = ${waiting}`.execute(
      fixture.database.db,
    );
    const underWay = await accept();
    await charge(underWay, 'a', 4);
    for (const id of [waiting, underWay]) await requestCancel(fixture.database.db, id);
    await finishRun(fixture.database.db, underWay, COMPLETED);
    assert.equal(await count(), 4);
    const { runs, failed_runs, cancelled_runs, run_p99 } = await total();
    assert.deepEqual([runs, failed_runs, cancelled_runs], [2, 0, 2]);
    // Nor is the time for which it waited a latency.
    assert.ok((run_p99 ?? Infinity) < 86_400_000, String(run_p99));
  });

  it('counts each run once, though several processes count at once', async () => {
    for (let run = 0; run < 20; run += 1) {
      const callId = await accept();
      await charge(callId, 'a', 2);
      await finishRun(fixture.database.db, callId, COMPLETED);
    }
    await Promise.all(Array.from({ length: 4 }, () => countUsage(fixture.database.db, 7)));
    assert.equal(await count(), 40);
    assert.equal((await total()).runs, 20);
  });

  it('stays when runs are deleted, those included that were not counted yet', async () => {
    const callId = await accept();
    await charge(callId, 'a', 6);
    await finishRun(fixture.database.db, callId, COMPLETED);
    await sql`update run set started_at = started_at - interval '9 days', finished_at = finished_at - interval '9 days'
      where execution_id = ${callId}`.execute(fixture.database.db);
    assert.ok((await deleteOld(fixture.database.db, 8, 500)).runs > 0);
    const left = await fixture.database.db
      .selectFrom('run')
      .select('execution_id')
      .where('execution_id', '=', callId)
      .execute();
    assert.deepEqual(left, []);
    const { microcredits, runs } = await total();
    assert.deepEqual([microcredits, runs], [6, 1]);
  });
});
