// main: model calls while the database is some milliseconds away (bench/results/2026-11-24-distant-database.txt):
//   npx node bench/distant-database.ts [--ms 2] [--seconds 15]
// An API process with 1, 2 and 4 workers, 16 callers of one organization and of four, beside the same with a database that is near.
import { parseArgs } from 'node:util';
import { formatTable } from '../cli/terminal/print.ts';
import { createProgress } from '../dev/progress.ts';
import { CANDIDATES } from './compare/candidates.ts';
import { moveAway } from './move-away.ts';
import { type Backends, startBackends } from './setup/backends.ts';
import { type LoadTarget, startLoadGenerator } from './setup/load.ts';
import { type Outside, startOutside, startWeir } from './setup/weir.ts';

const WORKERS = [1, 2, 4];
const ORGANIZATIONS = [1, 4];
const CALLERS = 16;
const WARM_UP_RUNS = 48;
const { flow, expect } = CANDIDATES.e;

const { values } = parseArgs({
  options: { ms: { type: 'string', default: '2' }, seconds: { type: 'string', default: '15' } },
});
const seconds = Number(values.seconds);
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  console.log(await measure());
} finally {
  await stopAll(stops);
}
process.exit();

async function stopAll(all: (() => Promise<void>)[]): Promise<void> {
  for (const stop of all.splice(0).reverse()) await stop();
}

async function measure(): Promise<string> {
  const progress = createProgress();
  const backends = await startBackends(progress, onStop);
  const outside = await startOutside(backends, onStop);
  const rows: (string | number)[][] = [];
  for (const workers of WORKERS)
    for (const awayMs of [0, Number(values.ms)]) {
      const task = progress.begin(`${workers} workers, ${awayMs} ms`);
      const databaseUrl = new URL(backends.databaseUrl);
      if (awayMs > 0) databaseUrl.host = await moveAway(databaseUrl.host, awayMs, onStop);
      rows.push([
        workers,
        awayMs,
        ...(await measureShape({ ...backends, databaseUrl: databaseUrl.href }, outside, workers)),
      ]);
      task.done();
    }
  const heads = ORGANIZATIONS.flatMap((count) => [`runs/s of ${count} organizations`, 'p50 ms', 'p95']);
  return formatTable(['workers', 'database, ms away', ...heads], rows, '');
}

async function measureShape(backends: Backends, outside: Outside, workers: number): Promise<number[]> {
  const ends: (() => Promise<void>)[] = [];
  try {
    const weir = await startWeir(backends, outside, workers, (stop) => void ends.push(stop));
    const figures: number[] = [];
    for (const count of ORGANIZATIONS) {
      const targets: LoadTarget[] = [];
      for (let index = 0; index < count; index += 1)
        targets.push(await (await weir.createCaller()).target(flow, expect));
      await call(targets, { maxRequests: WARM_UP_RUNS / count, maxMs: 60_000 });
      figures.push(
        ...(await call(targets, { maxRequests: Number.MAX_SAFE_INTEGER, maxMs: seconds * 1_000 })),
      );
    }
    return figures;
  } finally {
    await stopAll(ends);
  }
}

/** Has the callers share the targets; returns runs per second, and the mean of the targets' p50 and p95. */
async function call(targets: LoadTarget[], ends: { maxRequests: number; maxMs: number }): Promise<number[]> {
  const results = await Promise.all(
    targets.map(async (target) => {
      const load = startLoadGenerator();
      return load.run({ ...target, ...ends, concurrency: CALLERS / targets.length }).finally(load.stop);
    }),
  );
  const sum = (of: 'perSecond' | 'p50' | 'p95') => results.reduce((total, result) => total + result[of], 0);
  return [
    Number(sum('perSecond').toFixed(1)),
    Math.round(sum('p50') / results.length),
    Math.round(sum('p95') / results.length),
  ];
}
