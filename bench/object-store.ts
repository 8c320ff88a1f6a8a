// main: blocks that put out 1 KB to 4 MB, with their outputs in PostgreSQL and in an object store, which are both on this machine
// (docs/operating/object-store.md): npx node bench/object-store.ts [ROUNDS]
import { setTimeout as sleep } from 'node:timers/promises';
import { formatTable } from '../cli/terminal/print.ts';
import { createProgress } from '../dev/progress.ts';
import { startS3Server } from '../test/platform/object-store/s3-server.ts';
import { startBackends } from './setup/backends.ts';
import { type BenchService, type BenchTenant, startBenchService } from './setup/service.ts';
import { readUsage } from './setup/usage.ts';

const BLOCKS = 20;
const SIZES = [1_000, 100_000, 300_000, 1_000_000, 4_000_000];
const ROUNDS = Number(process.argv[2] ?? 3);
const SAMPLE_MS = 50;

type Place = { name: string; service: BenchService; tenant: BenchTenant };
type Figures = { ms: number; serviceMs: number; databaseMs: number; mostMb: number };

const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  const backends = await startBackends(createProgress(), onStop);
  const store = await startS3Server();
  onStop(store.stop);
  const start = async (name: string, env: NodeJS.ProcessEnv): Promise<Place> => {
    const service = await startBenchService(backends, env, onStop);
    return { name, service, tenant: await service.createTenant('bench', 1_000_000) };
  };
  const places = [await start('PostgreSQL', {}), await start('object store', store.env)];
  const rows = [];
  for (const bytes of SIZES) {
    const figures = new Map(places.map((place) => [place, [] as Figures[]]));
    // The first round warms up; the places take turns, so that a drift of the machine affects both alike.
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const place of places) {
        const measured = await measure(place, backends.pids.PostgreSQL, bytes);
        if (round > 0) figures.get(place)?.push(measured);
      }
    for (const [{ name }, all] of figures) rows.push([`${bytes / 1_000} KB`, name, ...summarize(all)]);
  }
  const header = ['output', 'in', 'ms per block', 'processor: service', 'PostgreSQL', 'MB at most'];
  console.log(`\n${formatTable(header, rows, '')}`);
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exit();

/** Measures a run of blocks, each of which reads the output before it and puts out as much. */
async function measure(
  { service, tenant }: Place,
  database: number | undefined,
  bytes: number,
): Promise<Figures> {
  const steps = Array.from({ length: BLOCKS }, (_, index) => ({
    type: 'sequential' as const,
    step_id: `block-${index}`,
    name: `block-${index}`,
    processor_type: 'code' as const,
    prompt: `return '${index} '.padEnd(${bytes - 2}, input.slice(0, 100));`,
  }));
  const url = await tenant.createFlow([
    ...steps,
    { ...(steps[0] as (typeof steps)[0]), step_id: 'end', prompt: 'return 1;' },
  ]);
  const groups = { service: service.pids(), database };
  const before = readUsage(groups);
  const began = performance.now();
  const answer = fetch(`${url}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'm' }),
  }).then((response) => response.json() as Promise<{ status: string }>);
  let mostMb = 0;
  let isOver = false;
  void answer
    .finally(() => {
      isOver = true;
    })
    .catch(() => undefined);
  while (!isOver) {
    mostMb = Math.max(mostMb, readUsage(groups).service?.residentMb ?? 0);
    await sleep(SAMPLE_MS);
  }
  const { status } = await answer;
  if (status !== 'completed') throw new Error(`A run with outputs of ${bytes} bytes ended as ${status}.`);
  const after = readUsage(groups);
  const used = (name: keyof typeof groups) =>
    ((after[name]?.cpuMs ?? 0) - (before[name]?.cpuMs ?? 0)) / BLOCKS;
  return {
    ms: (performance.now() - began) / BLOCKS,
    serviceMs: used('service'),
    databaseMs: used('database'),
    mostMb,
  };
}

/** Returns the median of each figure. */
function summarize(all: Figures[]): number[] {
  return (['ms', 'serviceMs', 'databaseMs', 'mostMb'] as const).map((name) => {
    const sorted = all.map((figures) => figures[name]).sort((a, b) => a - b);
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
  });
}
