import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { listRunPage, listRunsById } from '../../../db/runs/list-runs.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import type { ErrorCode } from '../../../flow/errors.ts';
import type { RunError } from '../../../flow/run.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase } from '../test-database.ts';

describe('a page of runs', () => {
  it('finds runs by their error, whose message may have U+0000 or half a surrogate pair', async () => {
    const database = await createTestDatabase();
    try {
      const { db } = database;
      const { runs } = await openAccount(db, 0, 3);
      for (const [at, odd] of ['\0', '\ud800', '\\u0000 \0'].entries()) {
        const error: RunError = { code: 'CODE_ERROR', message: `"code":"${odd}"`, reason: 'error' };
        await finishRun(db, runs[at] as string, { status: 'failed', error });
      }
      const found = async (errorCode: ErrorCode) =>
        (await listRunPage(db, { errorCode, limit: 10 })).runs.map((run) => run.execution_id);
      assert.deepEqual((await found('CODE_ERROR')).sort(), runs.toSorted());
      assert.deepEqual(await found('MODEL_REFUSED'), []);
    } finally {
      await database.drop();
    }
  });

  it('finds runs by how they ended, and no run that is in flight', async () => {
    const database = await createTestDatabase();
    try {
      const { db } = database;
      const { runs } = await openAccount(db, 0, 5);
      const [failed = '', cancelled = '', refused = '', completed = ''] = runs;
      const fail = (id: string, code: ErrorCode) =>
        finishRun(db, id, { status: 'failed', error: { code, message: '"code":"X"', reason: 'error' } });
      await fail(failed, 'CODE_ERROR');
      await fail(cancelled, 'CANCELLED');
      await fail(refused, 'MODEL_REFUSED');
      await finishRun(db, completed, { status: 'completed', result: { ref: 'ask' } });
      const found = async (filter: object) =>
        (await listRunPage(db, { ...filter, limit: 10 })).runs.map((run) => run.execution_id);
      for (const [outcome, id] of Object.entries({ failed, cancelled, refused, completed })) {
        assert.deepEqual(await found({ outcome }), [id]);
        assert.deepEqual(await found({ outcome, id }), [id]);
        assert.deepEqual(await found({ outcome, id: runs[4] }), []);
      }
      assert.deepEqual(await found({ status: 'failed', outcome: 'refused' }), [refused]);
      assert.deepEqual(await found({ status: 'completed', outcome: 'refused' }), []);
      assert.deepEqual((await found({ status: 'failed' })).sort(), [failed, cancelled, refused].sort());
    } finally {
      await database.drop();
    }
  });

  it('looks at no more runs once it has added up the costs of 20,000 blocks, and the next page goes on', async () => {
    const database = await createTestDatabase();
    try {
      const { db } = database;
      const { runs } = await openAccount(db, 0, 3);
      await sql`
        insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, cost_microcredits,
          latency_ms, attempts, started_at, finished_at)
        select run, 'b#' || place, 'b', 'b', 'llm', 'completed', '{"ref":"$message"}', 1, 1, 1, now(), now()
        from unnest(${runs}::uuid[]) as run, generate_series(1, 10000) as place`.execute(db);
      const newest = (await listRunsById(db, runs)).map((run) => run.execution_id);
      const { runs: first, next: nextOfAll } = await listRunPage(db, { limit: 10 });
      assert.deepEqual(
        first.map((run) => [run.execution_id, run.cost_microcredits]),
        newest.slice(0, 2).map((id) => [id, 10_000]),
      );
      assert.equal(nextOfAll, newest[1]);
      const { runs: rest, next: end } = await listRunPage(db, { after: newest[1], limit: 10 });
      assert.deepEqual([rest.map((run) => run.execution_id), end], [newest.slice(2), null]);
      const page = async (minMicrocredits: number, after?: string) => {
        const { runs: found, next } = await listRunPage(db, { minMicrocredits, after, limit: 10 });
        return { found: found.map((run) => run.execution_id), next };
      };
      assert.deepEqual(await page(10_001), { found: [], next: newest[1] });
      assert.deepEqual(await page(10_001, newest[1]), { found: [], next: null });
      assert.deepEqual(await page(10_000), { found: newest.slice(0, 2), next: newest[1] });
      assert.deepEqual(await page(10_000, newest[1]), { found: newest.slice(2), next: null });
      const { runs: failed, next } = await listRunPage(db, { errorCode: 'MODEL_REFUSED', limit: 10 });
      assert.deepEqual({ failed, next }, { failed: [], next: newest[1] });
    } finally {
      await database.drop();
    }
  });
});
