// Measures the candidates and the further parts, in rounds.
import os from 'node:os';
import type { Progress } from '../../dev/progress.ts';
import type { HandWrittenJob } from '../candidates/hand-written.ts';
import { type Backends, type Engine, startBackends } from '../setup/backends.ts';
import { startFork, startLoadGenerator } from '../setup/load.ts';
import { startPlainTemporal } from '../setup/temporal-servers.ts';
import type { Groups } from '../setup/usage.ts';
import { type Outside, startOutside, startWeir, type Weir } from '../setup/weir.ts';
import { compareWithAims, type Round } from './aims.ts';
import { CANDIDATES, type Letter, MESSAGE } from './candidates.ts';
import { measureCandidate, type Running } from './measure.ts';
import type { Options } from './options.ts';
import { PARTS, type Part } from './parts.ts';
import type { Results } from './report.ts';

/** A pid is undefined when the server was not started here. */
type TemporalServer = { address: string; pid: number | undefined };

type Context = {
  outside: Outside;
  /** The Temporal servers of the hand-written candidates, by name: '' for Weir's server. */
  temporals: Map<string, TemporalServer>;
  /** How Weir's processes are arranged, by name: '' for one process. */
  weirs: Map<string, Weir>;
  /** Returns the groups of processes whose use is measured for a candidate that runs in `pids` on `temporal`. */
  groupsOf(pids: number[], temporal?: TemporalServer): Groups;
  onStop(stop: () => Promise<void>): void;
};

type OnStop = (stop: () => Promise<void>) => void;

/** How Weir's processes are arranged with each engine, and how many workers are beside the API; 0 for one process. */
const ARRANGEMENTS: Record<Engine, Record<string, number>> = {
  dev: { '': 0 },
  postgres: { '': 0, '1+1': 1, '1+2': 2 },
};

export async function compareCandidates(
  options: Options,
  progress: Progress,
  onStop: OnStop,
): Promise<Results> {
  const { letters, sizes } = options;
  const machine = {
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    processors: `${os.availableParallelism()} × ${os.cpus()[0]?.model ?? 'processor'}`,
    node: process.version,
    load: os.loadavg(),
  };
  const backends = await startBackends(progress, onStop, options.engine);
  const { temporalAddress } = backends;
  const [candidates, parts, loads] = await timed('Candidates', 'starting', start);
  const rounds: Round[] = [];
  for (let count = 1; count <= sizes.rounds; count += 1) {
    const round: Round = { candidates: {}, parts: {} };
    rounds.push(round);
    for (const [name, running] of candidates)
      round.candidates[name] = await timed(`Round ${count}`, name, () =>
        measureCandidate(loads[0], running, sizes),
      );
    for (const { name, part, weir, outside } of parts) {
      if (part.once && count > 1) continue;
      round.parts[name] = await timed(`Round ${count}`, name, () =>
        part.measure({ weir, outside, temporalAddress, temporalPid: backends.pids.Temporal, loads, sizes }),
      );
    }
  }
  return { machine, rounds, aims: compareWithAims(rounds) };

  async function start() {
    const outside = await startOutside(backends, onStop);
    const loads = [startLoadGenerator(), startLoadGenerator()] as const;
    for (const { stop } of loads) onStop(stop);
    const weirs = await startWeirs(options, backends, outside, onStop);
    const temporals = await startTemporals(options, backends, onStop);
    const candidates = await startCandidates(letters, {
      ...{ outside, weirs, temporals, onStop },
      groupsOf: (pids, temporal) => ({
        'Koa or Weir': pids,
        ...backends.pids,
        ...(temporal && { Temporal: temporal.pid }),
        'model server': outside.modelServer,
        'load generator': loads[0].pid,
      }),
    });
    const parts = options.parts.flatMap((name) =>
      [...weirs].map(([arrangement, weir]) => {
        const part: Part = PARTS[name];
        return { name: `${part.title} ${arrangement}`.trim(), part, weir, outside };
      }),
    );
    return [candidates, parts, loads] as const;
  }

  async function timed<T>(name: string, doing: string, run: () => Promise<T>): Promise<T> {
    const task = progress.begin(name);
    try {
      task.say(doing);
      const result = await run();
      task.done(doing);
      return result;
    } finally {
      task.drop();
    }
  }
}

/** Returns Weir's server and, beside the embedded one, a plain one, where something written by hand is measured. */
async function startTemporals(
  { letters, engine }: Options,
  { stateFolder, temporalAddress, pids }: Backends,
  onStop: OnStop,
): Promise<Map<string, TemporalServer>> {
  const temporals = new Map<string, TemporalServer>([['', { address: temporalAddress, pid: pids.Temporal }]]);
  if (engine === 'postgres' || letters.every((letter) => 'flow' in CANDIDATES[letter])) return temporals;
  const { address, child, stop } = await startPlainTemporal(stateFolder);
  onStop(stop);
  return temporals.set('plain', { address, pid: child.pid });
}

/** Starts Weir in each arrangement, where something of it is measured. */
async function startWeirs(
  { letters, parts, engine }: Options,
  backends: Backends,
  outside: Outside,
  onStop: OnStop,
): Promise<Map<string, Weir>> {
  const weirs = new Map<string, Weir>();
  if (parts.length === 0 && letters.every((letter) => 'byHand' in CANDIDATES[letter])) return weirs;
  for (const [name, workers] of Object.entries(ARRANGEMENTS[engine]))
    weirs.set(name, await startWeir(backends, outside, workers, onStop));
  return weirs;
}

/**
 * Starts the candidates. Those of Weir are there once for each arrangement and those of Temporal once for each server, whose
 * name follows the letter.
 */
async function startCandidates(letters: Letter[], context: Context): Promise<Map<string, Running>> {
  const { weirs, temporals, groupsOf } = context;
  const callers = await Promise.all(
    [...weirs].map(async ([name, weir]) => ({ name, weir, caller: await weir.createCaller() })),
  );
  const running = new Map<string, Running>();
  for (const letter of letters) {
    const candidate = CANDIDATES[letter];
    const shape = { callers: candidate.callers, modelMs: 'modelMs' in candidate ? candidate.modelMs : 0 };
    if ('flow' in candidate) {
      for (const { name, weir, caller } of callers) {
        const target = await caller.target(candidate.flow, candidate.expect);
        running.set(`${letter} ${name}`.trim(), { ...shape, target, groups: groupsOf(weir.pids) });
      }
      continue;
    }
    for (const [name, temporal] of temporals) {
      if (name && !('workflow' in candidate.byHand)) continue;
      const { pid, url } = await startHandWritten(candidate.byHand, temporal, context);
      const target = { url, body: JSON.stringify({ message: MESSAGE }), expect: candidate.expect };
      running.set(`${letter} ${name}`.trim(), { ...shape, target, groups: groupsOf([pid], temporal) });
    }
  }
  return running;
}

async function startHandWritten(
  job: HandWrittenJob,
  { address }: TemporalServer,
  { outside, onStop }: Context,
): Promise<{ pid: number; url: string }> {
  const { pid, receive, stop } = startFork(new URL('../candidates/hand-written.ts', import.meta.url), {
    ...outside.env,
    HAND_WRITTEN_JOB: JSON.stringify(job),
    TEMPORAL_ADDRESS: address,
  });
  onStop(stop);
  const { url } = (await receive()) as { url: string };
  return { pid, url };
}
