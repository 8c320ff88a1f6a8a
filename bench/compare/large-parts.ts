// Parts of the comparison that measure Weir with much at once: large outputs, long calls, many runs.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { INLINE_MAX_BYTES } from '../../flow/value.ts';
import { code, llm, passthrough } from '../../test/blocks.ts';
import { seedRuns } from '../../test/db/seed-runs.ts';
import type { LoadGenerator, LoadTarget } from '../setup/load.ts';
import { readUsage } from '../setup/usage.ts';
import type { Weir } from '../setup/weir.ts';
import type { Sizes } from './sizes.ts';

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

/** After this part of their time, the runs with long calls are in flight, and none ends for another two parts. */
const RISE_PART = 1 / 4;

const BLOCKS = 200;
export const HISTORY_PER_BLOCK = 'history bytes per block, the most of outputs over 2 KB';
const POLL_MS = 100;

/** Measures runs of 200 code blocks in a row that each put out so many bytes of their own. */
export async function measureLargeOutputs(weir: Weir, temporalAddress: string, sizes: number[]) {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection });
    const caller = await weir.createCaller();
    const figures: Record<string, number> = {};
    const referring: number[] = [];
    for (const bytes of sizes) {
      const steps = Array.from({ length: BLOCKS }, (_, index) =>
        code(`block-${index}`, `return '${index} '.padEnd(${bytes}, 'x');`),
      );
      const { url, headers, body } = await caller.target(steps, '', 'jobs');
      const began = performance.now();
      const executionId = await start(url, headers, body);
      const historySize = await waitForHistory(weir, client, executionId);
      const seconds = (performance.now() - began) / 1_000;
      const size = `${bytes / 1_000} KB`;
      figures[`${size}: history bytes per block`] = historySize / BLOCKS;
      // Larger values travel through a history as references (docs/decisions/0003-values-travel-as-references.md).
      if (bytes > INLINE_MAX_BYTES) referring.push(historySize / BLOCKS);
      figures[`${size}: rows per block`] = (await countRows(weir, executionId)) / BLOCKS;
      figures[`${size}: ms per block`] = (seconds * 1_000) / BLOCKS;
      figures[`${size}: ms per MB`] = (seconds * 1_000) / ((BLOCKS * bytes) / 1_000_000);
    }
    figures[HISTORY_PER_BLOCK] = Math.max(...referring);
    return figures;
  } finally {
    await connection.close();
  }
}

async function start(url: string, headers: Record<string, string> = {}, body: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const { executionId } = (await response.json()) as { executionId?: string };
  if (!executionId) throw new Error(`${url} answered ${response.status}.`);
  return executionId;
}

/** Waits until the workflow has closed; returns the bytes of its history. Throws when the run did not complete. */
async function waitForHistory({ db }: Weir, client: Client, executionId: string): Promise<number> {
  for (;;) {
    const { status, historySize = 0 } = await client.workflow.getHandle(executionId).describe();
    if (status.name !== 'RUNNING') {
      const run = await db
        .selectFrom('run')
        .select('status')
        .where('execution_id', '=', executionId)
        .executeTakeFirstOrThrow();
      if (run.status !== 'completed') throw new Error(`The run with large outputs ended as ${run.status}.`);
      return historySize;
    }
    await sleep(POLL_MS);
  }
}

async function countRows({ db }: Weir, executionId: string): Promise<number> {
  const { rows } = await db
    .selectFrom('block_run')
    .select(({ fn }) => fn.countAll<string>().as('rows'))
    .where('execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  return Number(rows);
}

/**
 * Measures runs of one long model call each, sent at one moment and then in turn until as many are under way, and one caller
 * of three passthroughs beside the first.
 */
export async function measureLongCalls(
  long: LoadGenerator,
  short: LoadGenerator,
  weir: Weir,
  temporalPid: number | undefined,
  { longCalls, longMs }: Sizes,
) {
  const caller = await weir.createCaller();
  const expect = '"status":"completed"';
  const waiting = await caller.target([llm('wait', '{{message}}', `demo/slow-${longMs}`)], expect);
  const quick = await caller.target(
    ['first', 'second', 'third'].map((stepId) => passthrough(stepId)),
    expect,
  );
  const maxMs = longMs * RISE_PART;
  const callShort = () =>
    short.run({ ...quick, concurrency: 1, maxMs, maxRequests: Number.MAX_SAFE_INTEGER });
  const alone = await callShort();
  let engineLoad = 0;
  const [calls, beside] = await Promise.all([
    long.run({ ...waiting, concurrency: longCalls, maxRequests: longCalls, maxMs: longMs }),
    sleep(longMs * RISE_PART).then(async () => {
      engineLoad = await measureProcessor(temporalPid, maxMs);
      return callShort();
    }),
  ]);
  const inTurn = await long.run({
    ...waiting,
    concurrency: longCalls,
    everyMs: longMs / longCalls,
    maxRequests: longCalls,
    maxMs: Number.MAX_SAFE_INTEGER,
  });
  return {
    'calls at once': longCalls,
    'time of a call, ms': longMs,
    'added to those in turn, p50 ms': inTurn.p50 - longMs,
    'added to those in turn, p95 ms': inTurn.p95 - longMs,
    'added to those of one moment, p50 ms': calls.p50 - longMs,
    'added to those of one moment, p95 ms': calls.p95 - longMs,
    "the engine's share of a core while none begins or ends": engineLoad,
    'passthroughs alone, p50 ms': alone.p50,
    'passthroughs alone, p95 ms': alone.p95,
    'passthroughs beside, p50 ms': beside.p50,
    'passthroughs beside, p95 ms': beside.p95,
    'passthroughs beside, rejected': beside.refused,
  };
}

/** Measures which share of a core a process uses for some time. NaN where it is not known. */
async function measureProcessor(pid: number | undefined, ms: number): Promise<number> {
  const use = () => readUsage({ process: pid }).process?.cpuMs ?? Number.NaN;
  const before = use();
  await sleep(ms);
  return (use() - before) / ms;
}

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
