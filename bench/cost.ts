// main: processor time per run by thread group, at 16 callers (bench/results/2026-11-22-cost-per-run.txt):
//   npm run bench:cost -- [--runs 400] [--observed] [CHECKOUT …]
// With --observed, each checkout is there a second time with traces and metrics on (and all traces sampled).
// Several checkouts of the project, each with servers of its own, take turns, so that a busy machine slows them alike.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { formatTable } from '../cli/terminal/print.ts';
import { createProgress } from '../dev/progress.ts';
import type { HandWrittenJob } from './candidates/hand-written.ts';
import { CANDIDATES, MESSAGE } from './compare/candidates.ts';
import { type LoadTarget, startFork, startLoadGenerator } from './setup/load.ts';
import { mean, standardError } from './setup/statistics.ts';
import { type Groups, readThreadTimes, readUsage } from './setup/usage.ts';

const CONCURRENCY = 16;
/** Runs of one turn: enough that 10 ms, the unit of /proc, do not matter. */
const RUNS_PER_TURN = 100;
const WARM_UP_RUNS = 200;
const CREDITS = 1_000_000;
const FLOWS = { '3 passthrough': CANDIDATES.g, '3 code': CANDIDATES.h, '3 model calls': CANDIDATES.e };

type Candidate = {
  checkout: string;
  flow: string;
  target: LoadTarget;
  pids: Groups & { service: number };
  turns: Costs[];
};
/** Milliseconds a run, by group. */
type Costs = Record<string, number>;

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '400' }, observed: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  console.log(await measure(positionals.length > 0 ? positionals : ['.']));
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exit();

async function measure(checkouts: string[]): Promise<string> {
  const load = startLoadGenerator();
  onStop(load.stop);
  const candidates: Candidate[] = [];
  const models = startFork(new URL('./candidates/model-server.ts', import.meta.url));
  onStop(models.stop);
  const { url } = (await models.receive()) as { url: string };
  const env = { DEMO_BASE_URL: url };
  const observing = values.observed ? await observe() : undefined;
  for (const checkout of checkouts) {
    candidates.push(...(await startCheckout(checkout, env)));
    if (observing) candidates.push(...(await startCheckout(checkout, { ...env, ...observing })));
  }
  const run = ({ target }: Candidate, maxRequests: number) =>
    load.run({ ...target, concurrency: CONCURRENCY, maxRequests, maxMs: Number.MAX_SAFE_INTEGER });
  for (const candidate of candidates) await run(candidate, WARM_UP_RUNS);
  for (let turn = 0; turn < Number(values.runs) / RUNS_PER_TURN; turn += 1)
    for (const candidate of candidates) {
      const before = readCosts(candidate.pids);
      await run(candidate, RUNS_PER_TURN);
      const after = readCosts(candidate.pids);
      const costs = Object.entries(after).map(([name, ms]) => [
        name,
        (ms - (before[name] ?? 0)) / RUNS_PER_TURN,
      ]);
      candidate.turns.push(Object.fromEntries(costs));
    }
  return formatCosts(candidates);
}

/** Starts a receiver of traces and metrics; returns the environment of a service that sends them. */
async function observe(): Promise<NodeJS.ProcessEnv> {
  const sink = startFork(new URL('./candidates/otlp-sink.ts', import.meta.url));
  onStop(sink.stop);
  const { url } = (await sink.receive()) as { url: string };
  return { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: 'observed', WEIR_METRICS_PORT: '0' };
}

/** Starts the service and its servers as one checkout of the project does it, and beside it an empty workflow. */
async function startCheckout(checkout: string, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
  // A service that was started here before has named its database in it.
  delete process.env.TEST_DATABASE_URL;
  const load = (file: string) => import(path.resolve(checkout, 'bench', file));
  const { startBackends }: typeof import('./setup/backends.ts') = await load('backends.ts');
  const { startBenchService }: typeof import('./setup/service.ts') = await load('service.ts');
  const backends = await startBackends(createProgress(), onStop);
  const floor = startFork(new URL('./candidates/hand-written.ts', import.meta.url), {
    HAND_WRITTEN_JOB: JSON.stringify({ workflow: 'empty', eager: true } satisfies HandWrittenJob),
    TEMPORAL_ADDRESS: backends.temporalAddress,
  });
  onStop(floor.stop);
  const { url } = (await floor.receive()) as { url: string };
  // High limits: requests are counted and never refused.
  const limits = { WEIR_RATE_LIMIT_PER_KEY: '1000000', WEIR_RATE_LIMIT_PER_ORGANIZATION: '1000000' };
  const { child, createTenant } = await startBenchService(backends, { ...limits, ...env }, onStop);
  const { key, createFlow } = await createTenant('bench', CREDITS);
  const body = JSON.stringify({ message: MESSAGE });
  const candidate = (flow: string, pid: number, target: LoadTarget): Candidate => ({
    ...{ flow, target, turns: [] },
    checkout: [path.basename(path.resolve(checkout)), env.OTEL_SERVICE_NAME].filter(Boolean).join(' '),
    pids: { ...backends.pids, service: pid },
  });
  const candidates = [candidate('empty', floor.pid, { url, body, expect: '"result":""' })];
  for (const [name, { flow, expect }] of Object.entries(FLOWS))
    candidates.push(
      candidate(name, child().pid, {
        headers: { authorization: `Bearer ${key}` },
        ...{ url: `${await createFlow(flow)}/execute`, body, expect },
      }),
    );
  return candidates;
}

/** Reads the processor time of the servers, of the service's threads, and of its child processes. */
function readCosts(pids: Candidate['pids']): Costs {
  const { service, ...servers } = readUsage(pids);
  const threads = readThreadTimes(pids.service);
  const own = Object.values(threads).reduce((sum, ms) => sum + ms, 0);
  const costs = Object.entries(servers).map(([name, usage]) => [name, usage?.cpuMs ?? 0]);
  return { ...Object.fromEntries(costs), ...threads, children: (service?.cpuMs ?? 0) - own };
}

/** Formats the means over the turns, and the ratio of each total to that of the first checkout with its standard error. */
function formatCosts(candidates: Candidate[]): string {
  const groups = [...new Set(candidates.flatMap(({ turns }) => turns.flatMap(Object.keys)))];
  const sum = (turn: Costs) => Object.values(turn).reduce((total, ms) => total + ms, 0);
  const ratios = ({ flow, turns }: Candidate) => {
    const first = candidates.find((candidate) => candidate.flow === flow)?.turns ?? [];
    return turns.map((turn, index) => sum(turn) / sum(first[index] ?? turn));
  };
  const row = (title: string, figure: (candidate: Candidate) => number, digits = 2) => [
    title,
    ...candidates.map((candidate) => Number(figure(candidate).toFixed(digits))),
  ];
  const titles = candidates.map(({ checkout, flow }) => `${checkout}: ${flow}`);
  return formatTable(
    ['ms a run', ...titles],
    [
      ...groups.map((group) => row(group, ({ turns }) => mean(turns.map((turn) => turn[group] ?? 0)))),
      row('total', ({ turns }) => mean(turns.map(sum))),
      row('ratio', (candidate) => mean(ratios(candidate)), 3),
      row('standard error of it', (candidate) => standardError(ratios(candidate)), 3),
    ],
    '',
  );
}
