import { setTimeout as sleep } from 'node:timers/promises';
import { passthrough } from '../test/blocks.ts';
import { seedRuns } from '../test/db/seed-runs.ts';
import type { LoadGenerator, LoadTarget } from './load.ts';
import type { Weir } from './weir.ts';

/** Enough that every list has the same number of rows as beside many runs. */
const FEW = 10_000;
const CALLS = 60;
/** After so long the database is at rest again. */
const REST_MS = 2_000;
const LISTS = [
  '',
  ...['started', 'tool_calls_required', 'in_progress', 'completed', 'failed'].map((text) => `status=${text}`),
  ...['mode=test', 'environment=test', 'version=1', 'until=2100-01-01', 'since=2000-01-01'],
];

/** Measures requests beside few runs, then beside `count`, one at a time: p95 of each, and the ratios. */
export async function measureManyRuns(load: LoadGenerator, weir: Weir, count: number) {
  const caller = await weir.createCaller();
  const execute = await caller.target([passthrough('only')], '"status":"completed"');
  const busyFlowId = await findFlow(weir, execute.url);
  const figures: Record<string, number> = {};
  await seedRuns(weir.db, { count: FEW, busyFlowId });
  const few = await measureAll();
  await seedRuns(weir.db, { count, busyFlowId });
  const many = await measureAll();
  for (const [name, p95] of Object.entries(many)) {
    figures[`${name}: p95 ms`] = p95;
    figures[`${name}: p95 / p95 beside few runs`] = p95 / (few[name] ?? 0);
  }
  figures['largest p95 / p95 beside few runs'] = Math.max(
    ...Object.entries(many).map(([name, p95]) => p95 / (few[name] ?? 0)),
  );
  return figures;

  async function measureAll(): Promise<Record<string, number>> {
    await sleep(REST_MS);
    const p95s: Record<string, number> = {};
    for (const [name, target] of Object.entries(await targets())) {
      const calls = { ...target, concurrency: 1, maxMs: 60_000 };
      await load.run({ ...calls, maxRequests: CALLS / 10 });
      p95s[name] = (await load.run({ ...calls, maxRequests: CALLS })).p95;
    }
    return p95s;
  }

  async function targets(): Promise<Record<string, LoadTarget>> {
    const base = execute.url.replace(/\/execute$/, '');
    const get = (path: string, expect = '"runs"'): LoadTarget => ({
      ...execute,
      ...{ method: 'GET', url: `${base}${path}`, body: '', expect },
    });
    const answer = await fetch(`${base}/runs?limit=20`, { headers: execute.headers ?? {} });
    const { runs, nextCursor } = (await answer.json()) as {
      runs: { executionId: string }[];
      nextCursor: string;
    };
    return {
      '/execute': execute,
      '/jobs/{id}': get(`/jobs/${runs[0]?.executionId}`, '"status"'),
      ...Object.fromEntries(LISTS.map((query) => [`/runs?${query}`, get(`/runs?limit=20&${query}`)])),
      '/runs?cursor': get(`/runs?limit=20&cursor=${nextCursor}`),
    };
  }
}

async function findFlow({ db }: Weir, url: string): Promise<string> {
  const { id } = await db
    .selectFrom('flow')
    .select('id')
    .where('slug', '=', url.split('/').at(-2) ?? '')
    .executeTakeFirstOrThrow();
  return id;
}
