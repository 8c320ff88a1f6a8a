import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { findLastModelCalls } from '../../../db/runs/find-last-model-calls.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the last model calls', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Records `count` calls, in a run of their own. */
  async function record(
    count: number,
    { model = 'openai/gpt', error, minutes = 0 }: { model?: string; error?: object; minutes?: number },
  ): Promise<void> {
    const { db } = database;
    const { runs } = await openAccount(db, 0, 1);
    await sql`update run set execution_id = timed_id() where execution_id = ${runs[0]}`.execute(db);
    await sql`
      insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, error, model, latency_ms, attempts,
        started_at, finished_at)
      select max(execution_id::text)::uuid, n::text, 'ask', 'ask', 'llm', ${error ? 'failed' : 'completed'}, '{}',
        ${error ? JSON.stringify(error) : null}::json, ${model}, 1, 1, now(), now() - ${minutes} * interval '1 minute'
      from run, generate_series(1, ${count}) as n group by n`.execute(db);
  }

  it('are counted by provider and reason, without what a provider said', async () => {
    const { db } = database;
    assert.deepEqual(await findLastModelCalls(db), []);
    await record(3, {});
    await record(4, {
      error: { code: 'MODEL_KEY_REJECTED', message: 'rejected (status 401): \u0000 "code":"NO"' },
    });
    await record(1, { error: { code: 'PROMPT_TOO_LARGE', message: 'too large (status 400): a secret' } });
    // These did not reach the provider, or ended long ago.
    await record(5, { error: { code: 'INSUFFICIENT_CREDITS', message: 'none left' } });
    await record(6, { minutes: 20 });
    await record(2, { model: 'anthropic/claude' });
    assert.deepEqual(await findLastModelCalls(db), [
      { provider: 'anthropic', calls: 2, failed: 0, ofProvider: 0, reasons: null, worst: null },
      {
        ...{ provider: 'openai', calls: 8, failed: 5, ofProvider: 4, worst: 'MODEL_KEY_REJECTED' },
        reasons: '4 MODEL_KEY_REJECTED (status 401), 1 PROMPT_TOO_LARGE (status 400)',
      },
    ]);
  });

  it('include calls without an answer for two minutes', async () => {
    const { db } = database;
    await record(1, { model: 'openrouter/x' });
    for (const minutes of [1, 3])
      await sql`
        insert into block_under_way (execution_id, block_key, step_id, name, processor_type, input, model, attempts, started_at)
        select max(execution_id::text)::uuid, ${String(minutes)}, 'ask', 'ask', 'llm', '{}', 'openrouter/x', 1,
          now() - ${minutes} * interval '1 minute' from run`.execute(db);
    const found = (await findLastModelCalls(db)).find(({ provider }) => provider === 'openrouter');
    assert.deepEqual(found, {
      ...{ provider: 'openrouter', calls: 2, failed: 1, ofProvider: 1, worst: 'MODEL_UNAVAILABLE' },
      reasons: '1 MODEL_UNAVAILABLE without an answer for 2 minutes',
    });
  });

  it('include calls that failed and wait to be repeated, and are the last hundred', async () => {
    const { db } = database;
    await record(120, { model: 'google/gemini' });
    await sql`
      insert into block_under_way (execution_id, block_key, step_id, name, processor_type, input, model, attempts, started_at,
        last_error)
      select max(execution_id::text)::uuid, 'waiting', 'ask', 'ask', 'llm', '{}', 'google/gemini', 2, now(),
        'google/gemini is unavailable (status 429): slow down'
      from run`.execute(db);
    const found = (await findLastModelCalls(db)).find(({ provider }) => provider === 'google');
    assert.deepEqual(found, {
      ...{ provider: 'google', calls: 100, failed: 1, ofProvider: 1, worst: 'MODEL_UNAVAILABLE' },
      reasons: '1 MODEL_UNAVAILABLE (status 429) being repeated',
    });
  });
});
