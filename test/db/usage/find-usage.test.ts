// Sums of usage by what it belongs to.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { finishRun } from '../../../db/runs/runs.ts';
import { findUsage } from '../../../db/usage/find-usage.ts';
import { COMPLETED, useUsage } from './usage-fixture.ts';

describe('usage found again', () => {
  const { fixture, filter, total, by, accept, charge, count } = useUsage();

  it('tells runs by day, flow, version and API key, the most credits first, and names what has a name', async () => {
    const costs = { AAAAAAAA: 10, BBBBBBBB: 30, users: 20 };
    for (const [key, cost] of Object.entries(costs)) {
      const callId = await accept(key === 'users' ? {} : { keyId: key });
      await charge(callId, 'a', cost);
      await finishRun(fixture.database.db, callId, COMPLETED);
    }
    await count();
    const sums = (rows: Awaited<ReturnType<typeof by>>) =>
      rows.map(({ id, version, name, microcredits, runs }) => ({ id, version, name, microcredits, runs }));
    assert.deepEqual(sums(await by('key')), [
      { id: 'BBBBBBBB', version: 0, name: null, microcredits: 30, runs: 1 },
      { id: '', version: 0, name: null, microcredits: 20, runs: 1 },
      { id: 'AAAAAAAA', version: 0, name: null, microcredits: 10, runs: 1 },
    ]);
    const [flow] = sums(await by('flow'));
    assert.deepEqual([flow?.name, flow?.version, flow?.microcredits, flow?.runs], ['flow', 0, 60, 3]);
    assert.deepEqual(
      [...(await by('flow')), ...(await by('version'))].map(({ project }) => project),
      ['main', 'main'],
    );
    const [version] = sums(await by('version'));
    assert.deepEqual(version, { ...flow, version: 1 });
    const [project] = sums(await by('project'));
    assert.deepEqual([project?.name, project?.runs], ['main', 3]);
    const days = await by('day');
    assert.equal(
      days.reduce((sum, { runs }) => sum + runs, 0),
      3,
    );
    const { rows: second } = await findUsage(fixture.database.db, filter(), {
      by: 'key',
      offset: 1,
      limit: 1,
    });
    assert.deepEqual(sums(second), sums(await by('key')).slice(1, 2));
  });

  it('finds percentiles of latencies to within 10 %', async () => {
    const latencies = Array.from({ length: 200 }, (_, index) => Math.round(5 * 1.05 ** index));
    for (const ms of latencies) {
      const callId = await accept();
      await charge(callId, 'a', 0);
      await finishRun(fixture.database.db, callId, COMPLETED);
      await sql`update run set finished_at = started_at + ${ms} * interval '1 millisecond'
        where execution_id = ${callId}`.execute(fixture.database.db);
      await sql`update block_run set latency_ms = ${ms} where execution_id = ${callId}`.execute(
        fixture.database.db,
      );
    }
    await count();
    const sums = await total();
    for (const [percent, of] of [50, 95, 99].flatMap((each) => [
      [each, 'run'] as const,
      [each, 'model'] as const,
    ])) {
      const found = sums[`${of}_p${percent as 50}`] ?? 0;
      const exact = latencies[(latencies.length * percent) / 100 - 1] as number;
      assert.ok(Math.abs(found - exact) <= 0.1 * exact + 1, `${of} ${percent}: ${found} for ${exact}`);
    }
  });

  it('finds percentiles of runs that waited for months', async () => {
    const callId = await accept();
    await finishRun(fixture.database.db, callId, COMPLETED);
    await sql`update run set started_at = finished_at - interval '60 days' where execution_id = ${callId}`.execute(
      fixture.database.db,
    );
    await count();
    const months = 60 * 86_400_000;
    const { run_p50: found } = await total();
    assert.ok(Math.abs((found as number) - months) < 0.1 * months, `${found}`);
  });
});
