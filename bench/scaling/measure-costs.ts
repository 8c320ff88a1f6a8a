// Measures the cost of a run by part: an API and workers as separate processes, the full Temporal server on PostgreSQL.
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Step } from '../../flow/definition.ts';
import { code, llm, passthrough } from '../../test/blocks.ts';
import type { Backends } from '../setup/backends.ts';
import { startLoadGenerator } from '../setup/load.ts';
import { startBenchService } from '../setup/service.ts';
import { readUsage } from '../setup/usage.ts';
import { startOutside } from '../setup/weir.ts';
import { COST_PARTS, type CostPart, type Measured } from './plan-machines.ts';

const CREDITS = 1_000_000;
const WARM_UP_RUNS = 100;
const MESSAGE = 'rivers, dams, salmon';
const LIMITS = { WEIR_RATE_LIMIT_PER_KEY: '1000000', WEIR_RATE_LIMIT_PER_ORGANIZATION: '1000000' };
const KINDS: { kind: string; flow: Step[] }[] = [
  { kind: '3 passthrough', flow: ['a', 'b', 'c'].map((id) => passthrough(id)) },
  { kind: '3 code', flow: ['a', 'b', 'c'].map((id) => code(id, 'return input;')) },
  {
    kind: '3 model calls of 300 ms',
    flow: ['a', 'b', 'c'].map((id) => llm(id, 'Answer to {{previous_output}}', 'demo/slow-300')),
  },
];

type Sizes = { runs: number; callers: number[] };

/** Measures each kind of run at each number of callers. Registers cleanups with `onStop`. */
export async function measureCosts(
  backends: Backends,
  workers: number,
  { runs, callers }: Sizes,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Measured[]> {
  const load = startLoadGenerator();
  onStop(load.stop);
  const outside = await startOutside(backends, onStop);
  const service = await startBenchService(backends, { ...outside.env, ...LIMITS }, onStop, workers);
  const { key, createFlow } = await service.createTenant('scaling', CREDITS);
  const [api, ...workerPids] = service.pids();
  const groups = {
    api,
    worker: workerPids,
    temporal: backends.pids.Temporal,
    postgres: backends.pids.PostgreSQL,
  };
  const measured: Measured[] = [];
  for (const { kind, flow } of KINDS) {
    const headers = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ message: MESSAGE });
    const target = { headers, url: `${await createFlow(flow)}/execute`, body, expect: '"completed"' };
    const run = (concurrency: number, maxRequests: number) =>
      load.run({ ...target, concurrency, maxRequests, maxMs: Number.MAX_SAFE_INTEGER });
    await run(Math.max(...callers), WARM_UP_RUNS);
    for (const concurrency of callers) {
      const before = await read();
      const { perSecond } = await run(concurrency, runs);
      const after = await read();
      measured.push({
        kind,
        workers,
        callers: concurrency,
        runsPerSecond: perSecond,
        ...difference(before, after, runs),
      });
    }
  }
  return measured;

  async function read() {
    const usage = readUsage(groups);
    const cpuOf = (name: string) => usage[name]?.cpuMs ?? 0;
    return {
      cpuMs: Object.fromEntries(COST_PARTS.map((part) => [part, cpuOf(part)])) as Record<CostPart, number>,
      ...(await readDatabases(service.db)),
    };
  }
}

type Reading = Awaited<ReturnType<typeof readDatabases>> & { cpuMs: Record<CostPart, number> };

async function readDatabases(db: Db) {
  // What sessions have counted reaches the statistics once they rest.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows } = await sql<{ own: boolean; commits: number; bytes: number; wal: number }>`
    select datname = current_database() as own, sum(xact_commit)::float8 as commits,
      sum(pg_database_size(datname))::float8 as bytes, (pg_current_wal_lsn() - '0/0')::float8 as wal
    from pg_stat_database where datname = current_database() or datname like 'temporal%' group by 1`.execute(
    db,
  );
  const of = (own: boolean) => rows.find((row) => row.own === own) ?? { commits: 0, bytes: 0, wal: 0 };
  const [weir, temporal] = [of(true), of(false)];
  return {
    commits: { weirDatabase: weir.commits, temporalDatabase: temporal.commits },
    diskBytes: { weirDatabase: weir.bytes, temporalDatabase: temporal.bytes },
    walBytes: weir.wal,
  };
}

/** Returns what one of `runs` has cost between two readings. */
function difference(before: Reading, after: Reading, runs: number) {
  const each = <K extends string>(a: Record<K, number>, b: Record<K, number>) =>
    Object.fromEntries(
      Object.keys(a).map((key) => [key, round((b[key as K] - a[key as K]) / runs)]),
    ) as Record<K, number>;
  return {
    cpuMs: each(before.cpuMs, after.cpuMs),
    commits: each(before.commits, after.commits),
    diskBytes: each(before.diskBytes, after.diskBytes),
    walBytes: round((after.walBytes - before.walBytes) / runs),
  };
}

function round(figure: number): number {
  return Number(figure.toFixed(2));
}
