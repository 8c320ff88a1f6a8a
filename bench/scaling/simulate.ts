import { quantile } from '../setup/statistics.ts';

/** A part as a queue: `servers` runs at a time, each for `ms` at each of its visits, exponentially distributed. */
type Station = { servers: number; ms: number };
/** A run's way: the names of the stations it visits, in order. */
type Way = string[];

type Event = { at: number; run: number; step: number };

/**
 * Simulates runs that arrive at random (Poisson) and queue at each station in order of arrival. Returns the median and the 95th
 * percentile of the time a run takes, and of its time without waiting, in milliseconds. `random` gives numbers from 0 to 1.
 */
export function simulate(
  {
    stations,
    way,
    runsPerSecond,
    runs,
  }: { stations: Record<string, Station>; way: Way; runsPerSecond: number; runs: number },
  random: () => number,
): { p50: number; p95: number; unqueued: number } {
  const exponential = (mean: number) => -mean * Math.log(1 - random());
  const free = Object.fromEntries(
    Object.entries(stations).map(([name, { servers }]) => [name, Array<number>(servers).fill(0)]),
  );
  // Only runs under way are in the list: the next arrival joins it when the one before has come.
  const events: Event[] = [];
  const began: number[] = [];
  const took: number[] = [];
  const arrive = (after: number) => {
    if (began.length === runs) return;
    const at = after + exponential(1_000 / runsPerSecond);
    insert(events, { at, run: began.length, step: 0 });
    began.push(at);
  };
  arrive(0);
  for (let event = events.shift(); event; event = events.shift()) {
    const { at, run, step } = event;
    if (step === 0) arrive(at);
    const name = way[step];
    if (name === undefined) {
      took.push(at - (began[run] as number));
      continue;
    }
    const servers = free[name] as number[];
    const first = servers.indexOf(Math.min(...servers));
    const done = Math.max(at, servers[first] as number) + exponential((stations[name] as Station).ms);
    servers[first] = done;
    insert(events, { at: done, run, step: step + 1 });
  }
  const unqueued = way.reduce((sum, name) => sum + (stations[name] as Station).ms, 0);
  return { p50: quantile(took, 0.5), p95: quantile(took, 0.95), unqueued };
}

/** Inserts an event in the order of time. */
function insert(events: Event[], event: Event): void {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle] as Event).at <= event.at) low = middle + 1;
    else high = middle;
  }
  events.splice(low, 0, event);
}
