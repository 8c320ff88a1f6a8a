import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { BUILD, VERSION } from '../../version.ts';
import {
  buildInfo,
  eventLoopDelays,
  eventLoopUtilization,
  memoryUsage,
  processorTime,
} from './process-metrics.ts';

const WINDOW_MS = 10_000;
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

/** Measures the process itself until the returned function is called. */
export function observeProcess(): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delays: { [part: string]: number } | undefined;
  let since = performance.eventLoopUtilization();
  let utilization = 0;
  // Not at each export: there may be several readers, and each look empties the histogram.
  const timer = setInterval(() => {
    delays = {
      p50: histogram.percentile(50),
      p90: histogram.percentile(90),
      p99: histogram.percentile(99),
      max: histogram.max,
    };
    histogram.reset();
    const now = performance.eventLoopUtilization();
    utilization = performance.eventLoopUtilization(now, since).utilization;
    since = now;
  }, WINDOW_MS).unref();
  const stops = [
    buildInfo.observe(() => [{ value: 1, labels: { version: VERSION, build: BUILD ?? '' } }]),
    ...eventLoopDelays.map(({ part, delay }) =>
      delay.observe(() => {
        const nanoseconds = delays?.[part];
        return nanoseconds === undefined ? [] : [{ value: beyondResolution(nanoseconds) }];
      }),
    ),
    eventLoopUtilization.observe(() => [{ value: utilization }]),
    memoryUsage.observe(() => [{ value: process.memoryUsage.rss() }]),
    processorTime.observe(() => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / 1e6 }];
    }),
  ];
  return () => {
    clearInterval(timer);
    histogram.disable();
    for (const stop of stops) stop();
  };
}

/** The histogram measures the time between two of its timers, which is the resolution when nothing is late. */
function beyondResolution(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
}
