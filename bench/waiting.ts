// main: memory and processor time of work that only waits (bench/results/2026-11-28-memory.txt):
//   npx node bench/waiting.ts [--count 2000] [--seconds 30]
// So many parked runs, then so many deliveries whose next attempt is due in half an hour, each twice: the second time shows
// what the work itself takes, since everything is loaded by then. Linux only.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { formatTable } from '../cli/terminal/format-table.ts';
import { createProgress } from '../dev/progress.ts';
import { startBackends } from './backends.ts';
import { startBenchService } from './service.ts';
import { readPss, readUsage } from './usage.ts';
import { startWaitingWork } from './waiting-work.ts';

/** The service, Temporal and PostgreSQL have put away by then what they do after the last write. */
const REST_MS = 10_000;
const TASK_QUEUE = 'bench-waiting';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '30' },
  },
});
const count = Number(values.count);
const seconds = Number(values.seconds);
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  console.log(await measure());
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exit();

async function measure(): Promise<string> {
  const progress = createProgress();
  const backends = await startBackends(progress, onStop);
  const work = await startWaitingWork(backends, TASK_QUEUE, onStop);
  const service = await startBenchService(backends, { ...work.env, WEIR_TASK_QUEUE: TASK_QUEUE }, onStop);
  const pids = { service: service.child().pid, ...backends.pids };
  const stages: { name: string; start?: () => Promise<void> }[] = [
    { name: 'idle' },
    { name: `${count} parked runs`, start: () => work.parkRuns(service, count) },
    { name: `${count} more`, start: () => work.parkRuns(service, count) },
    { name: `${count} deliveries`, start: () => work.postponeDeliveries(service, count) },
    { name: `${count} more`, start: () => work.postponeDeliveries(service, count) },
  ];
  const rows: (string | number)[][] = [];
  for (const { name, start } of stages) {
    const task = progress.begin(name);
    const began = performance.now();
    let peakMb = 0;
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, readPss(pids.service).totalMb);
    }, 1_000);
    await start?.();
    clearInterval(watch);
    const startedS = (performance.now() - began) / 1_000;
    await sleep(REST_MS);
    const before = readUsage(pids);
    await sleep(seconds * 1_000);
    const after = readUsage(pids);
    const spentMs = (part: string) => (after[part]?.cpuMs ?? 0) - (before[part]?.cpuMs ?? 0);
    const { totalMb, anonymousMb } = readPss(pids.service);
    rows.push([
      ...[name, Math.round(startedS), Math.round(peakMb), Math.round(totalMb), Math.round(anonymousMb)],
      ...Object.keys(pids).map((part) => Number((spentMs(part) / seconds).toFixed(1))),
    ]);
    task.done();
  }
  const spent = Object.keys(pids).map((part) => `${part}, ms a second`);
  const head = ['what waits', 's to start', 'highest MB', 'service MB', 'private MB', ...spent];
  return formatTable(head, rows, '');
}
