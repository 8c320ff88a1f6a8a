// main: short runs while Temporal is some milliseconds away (bench/results/2026-11-27-distant-temporal.txt):
//   npx node bench/distant-engine.ts [--ms 20] [--seconds 15]
// One process, 64 callers of three passthroughs: of one organization, and the same beside another that calls once a second.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { formatTable } from '../cli/terminal/print.ts';
import { createProgress } from '../dev/progress.ts';
import { CANDIDATES } from './compare/candidates.ts';
import { moveAway } from './move-away.ts';
import { startBackends } from './setup/backends.ts';
import { startLoadGenerator } from './setup/load.ts';
import { startOutside, startWeir } from './setup/weir.ts';

const CALLERS = 64;
const { flow, expect } = CANDIDATES.g;

const { values } = parseArgs({
  options: { ms: { type: 'string', default: '20' }, seconds: { type: 'string', default: '15' } },
});
const seconds = Number(values.seconds);
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  const progress = createProgress();
  const backends = await startBackends(progress, onStop);
  const rows: (string | number)[][] = [];
  for (const awayMs of [0, Number(values.ms)]) {
    const task = progress.begin(`${awayMs} ms away`);
    const near = backends.temporalAddress;
    const temporalAddress = awayMs === 0 ? near : await moveAway(near, awayMs, onStop);
    rows.push([awayMs, ...(await measure({ ...backends, temporalAddress }))]);
    task.done();
  }
  const heads = ['alone, runs/s', 'p50 ms', 'p95', 'the quiet one alone, p50', 'p95'];
  const beside = ['beside it, runs/s', 'p50', 'the quiet one, p50', 'p95'];
  console.log(formatTable(['Temporal, ms away', ...heads, ...beside], rows, ''));
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exit();

async function measure(backends: Parameters<typeof startWeir>[0]): Promise<number[]> {
  const ends: (() => Promise<void>)[] = [];
  const onEnd = (stop: () => Promise<void>) => void ends.push(stop);
  try {
    const outside = await startOutside(backends, onEnd);
    const weir = await startWeir(backends, outside, 0, onEnd);
    const [crowd, quiet] = [startLoadGenerator(), startLoadGenerator()];
    onEnd(async () => void (await Promise.all([crowd.stop(), quiet.stop()])));
    const crowdTarget = await (await weir.createCaller()).target(flow, expect);
    const quietTarget = await (await weir.createCaller()).target(flow, expect);
    const bounds = { maxRequests: Number.MAX_SAFE_INTEGER, maxMs: seconds * 1_000 };
    const callInCrowd = () => crowd.run({ ...crowdTarget, ...bounds, concurrency: CALLERS });
    const callEachSecond = () => quiet.run({ ...quietTarget, ...bounds, concurrency: 1, everyMs: 1_000 });
    await crowd.run({ ...crowdTarget, concurrency: 16, maxRequests: 300, maxMs: 60_000 });
    const alone = await callInCrowd();
    const quietAlone = await callEachSecond();
    const [beside, quietBeside] = await Promise.all([callInCrowd(), sleep(500).then(callEachSecond)]);
    return [
      alone.perSecond,
      alone.p50,
      alone.p95,
      quietAlone.p50,
      quietAlone.p95,
      beside.perSecond,
      beside.p50,
      quietBeside.p50,
      quietBeside.p95,
    ].map((figure) => Number(figure.toFixed(1)));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
