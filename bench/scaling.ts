// main: what parts cost, and how many machines a rate of runs needs (docs/scaling.md):
//   npm run bench:scaling                  tables from bench/scaling/measured.json
//   npm run bench:scaling -- --measure     measures that file anew first (10 minutes on two cores)
//   npm run bench:scaling -- --measure --quick
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { formatTable } from '../cli/terminal/print.ts';
import { createProgress } from '../dev/progress.ts';
import { measureCosts } from './scaling/measure-costs.ts';
import {
  COST_PARTS,
  type CostPart,
  type Measured,
  planMachines,
  UTILISATION,
} from './scaling/plan-machines.ts';
import { simulate } from './scaling/simulate.ts';
import { startBackends } from './setup/backends.ts';

const FILE = path.join(import.meta.dirname, 'scaling/measured.json');
const RATES = [10, 100, 1_000];
const ARRANGEMENTS = [1, 2];
/** A run passes the API, Temporal and a worker in turn; its statements lie in between. */
const WAY: CostPart[] = ['api', 'postgres', 'temporal', 'postgres', 'worker', 'postgres', 'temporal', 'api'];
const SIMULATED_RUNS = 20_000;

const { values } = parseArgs({
  options: { measure: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
});
if (values.measure) writeFileSync(FILE, `${JSON.stringify(await measure(values.quick), null, 2)}\n`);
const measured = JSON.parse(readFileSync(FILE, 'utf8')) as Measured[];
console.log(report(measured));
process.exit();

async function measure(quick: boolean): Promise<Measured[]> {
  const stops: (() => Promise<void>)[] = [];
  const onStop = (stop: () => Promise<void>) => void stops.push(stop);
  try {
    const backends = await startBackends(createProgress(), onStop, 'postgres');
    const sizes = quick ? { runs: 200, callers: [16] } : { runs: 300, callers: [4, 16, 64] };
    const all: Measured[] = [];
    for (const workers of ARRANGEMENTS) {
      const own: (() => Promise<void>)[] = [];
      try {
        all.push(...(await measureCosts(backends, workers, sizes, (stop) => void own.push(stop))));
      } finally {
        for (const stop of own.reverse()) await stop();
      }
    }
    return all;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function report(all: Measured[]): string {
  const total = ({ cpuMs }: Measured) => COST_PARTS.reduce((sum, part) => sum + cpuMs[part], 0);
  const measuredTable = formatTable(
    ['run', 'workers', 'callers', 'runs/s', ...COST_PARTS, 'ms in all', 'commits', 'wal kb', 'disk kb'],
    all.map((one) => [
      ...[one.kind, one.workers, one.callers, Number(one.runsPerSecond.toFixed(1))],
      ...COST_PARTS.map((part) => Number(one.cpuMs[part].toFixed(1))),
      Number(total(one).toFixed(1)),
      Number((one.commits.weirDatabase + one.commits.temporalDatabase).toFixed(1)),
      Number((one.walBytes / 1_000).toFixed(1)),
      Number(((one.diskBytes.weirDatabase + one.diskBytes.temporalDatabase) / 1_000).toFixed(1)),
    ]),
    '',
  );
  // The most callers of the smallest arrangement: what the plans extrapolate.
  const base = all.filter(
    (one) => one.workers === 1 && one.callers === Math.max(...all.map(({ callers }) => callers)),
  );
  const planned = base.flatMap((one) =>
    RATES.map((rate) => {
      const { cores, walMbPerSecond, commitsPerSecond, diskGbPerDay } = planMachines(one, rate);
      return [
        ...[one.kind, rate],
        ...COST_PARTS.map((part) => cores[part]),
        ...[walMbPerSecond, commitsPerSecond, diskGbPerDay].map((figure) => Number(figure.toFixed(1))),
      ];
    }),
  );
  const planTable = formatTable(
    ['run', 'runs/s', ...COST_PARTS.map((part) => `${part} cores`), 'wal mb/s', 'commits/s', 'disk gb/day'],
    planned,
    '',
  );
  return [
    `Measured, ms of processor time a run:\n${measuredTable}`,
    `Planned, at ${UTILISATION * 100}% of each part's processors:\n${planTable}`,
    `Simulated, 100 runs/s at random:\n${simulated(base)}`,
  ].join('\n\n');
}

/** Checks the share of processors that plans leave free: how long runs queue when parts are used to 50%, 70% and 90%. */
function simulated(base: Measured[]): string {
  const rate = 100;
  return formatTable(
    ['run', 'used', 'ms without waiting', 'p50', 'p95'],
    base.flatMap((one) =>
      [0.5, 0.7, 0.9].map((used) => {
        const visits = (part: CostPart) => WAY.filter((name) => name === part).length;
        const stations = Object.fromEntries(
          COST_PARTS.map((part) => {
            const servers = Math.max(1, Math.round((one.cpuMs[part] * rate) / 1_000 / used));
            // Whole processors are used to exactly that share when each visit takes this long.
            return [part, { servers, ms: (used * servers * 1_000) / rate / visits(part) }];
          }),
        );
        const { p50, p95, unqueued } = simulate(
          { stations, way: WAY, runsPerSecond: rate, runs: SIMULATED_RUNS },
          Math.random,
        );
        return [one.kind, `${used * 100}%`, ...[unqueued, p50, p95].map(Math.round)];
      }),
    ),
    '',
  );
}
