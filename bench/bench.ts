// main of `npm run bench`: measures Weir, a hand-written workflow, an empty workflow and no engine in one go, and prints
// a table. The candidates are in candidates/; --neighbours measures one organization beside hostile ones.
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { createProgress } from '../embedded/progress.ts';
import { startBackends } from './backends.ts';
import { startFork } from './fork.ts';
import { type LoadTarget, startLoadGenerator } from './load.ts';
import { measureJobs, measureModels, measureRound, type Round } from './measure.ts';
import { formatNeighbours, measureNeighbours } from './neighbours.ts';
import { compareRounds } from './ratios.ts';
import { formatResults, type Results } from './report.ts';
import { FULL, QUICK } from './sizes.ts';
import { startWeir, type Weir } from './weir.ts';

const USAGE =
  'npm run bench -- [--quick] [--only a,b,c,d,e] [--json FILE]\n       npm run bench -- --neighbours [--quick] [--load TEXT] [--json FILE]';
const MESSAGE = 'rivers, dams, salmon';
const NAMES = {
  a: 'three regular activities behind Koa',
  b: 'Weir, /execute of three blocks',
  c: 'empty workflow, eager start',
  d: 'three functions in Koa, no engine',
  e: 'Weir, three model calls of 300 ms',
};
const HAND_WRITTEN = {
  a: { file: 'candidates/three-activities.ts', result: MESSAGE.toUpperCase() },
  c: { file: 'candidates/empty-workflow.ts', result: '' },
  d: { file: 'candidates/inline.ts', result: MESSAGE.toUpperCase() },
};

type Letter = keyof typeof NAMES;
type Candidate = { letter: Letter; pid: number; target: LoadTarget };

const options = readOptions();
const sizes = options.quick ? QUICK : FULL;
const progress = createProgress();
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  const { text, results } = await Promise.race([
    options.neighbours ? compareNeighbours() : compareCandidates(),
    interruption(),
  ]);
  console.log(`\n${text}`);
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ sizes, ...results }, null, 2)}\n`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
for (const stop of stops.reverse()) await stop();
// Ends the work that an interruption left unfinished.
process.exit();

async function compareCandidates() {
  const results = await measure();
  return { text: formatResults(results), results };
}

/** Measures an innocent organization beside each hostile load. */
async function compareNeighbours() {
  const backends = await startBackends(progress, onStop);
  const task = progress.begin('Neighbours');
  const size = { seconds: sizes.neighbourSeconds, filter: options.load };
  const results = await measureNeighbours(backends, size, task.say, onStop);
  task.done();
  return { text: formatNeighbours(results), results };
}

async function measure(): Promise<Results> {
  const machine = {
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    processors: `${os.availableParallelism()} × ${os.cpus()[0]?.model ?? 'processor'}`,
    node: process.version,
    load: os.loadavg(),
  };
  const backends = await startBackends(progress, onStop);
  const load = startLoadGenerator();
  onStop(load.stop);
  const task = progress.begin('Candidates');
  const weir = wants('b') || wants('e') ? await startWeir(backends, MESSAGE, onStop) : undefined;
  const candidates: Candidate[] = [];
  for (const letter of (['a', 'b', 'c', 'd'] as const).filter(wants)) {
    task.say(NAMES[letter]);
    if (letter !== 'b') candidates.push(await startHandWritten(letter, backends.temporalAddress));
    else if (weir) candidates.push({ letter, pid: weir.pid, target: weir.execute });
  }
  task.done();

  const groupsOf = (pid: number) => ({ 'Koa or Weir': pid, ...backends.pids, 'load generator': load.pid });
  const rounds: Record<string, Round[]> = {};
  for (let round = 1; round <= sizes.rounds; round += 1) {
    for (const { letter, pid, target } of candidates) {
      const measured = await timed(`Round ${round}, ${letter}`, () =>
        measureRound(load, target, groupsOf(pid), sizes),
      );
      rounds[letter] = [...(rounds[letter] ?? []), measured];
    }
  }
  const ofWeir = weir ? await measureWeir(weir) : {};
  return { machine, names: NAMES, rounds, ...ofWeir, ratios: compareRounds(rounds) };

  async function measureWeir(weir: Weir): Promise<Pick<Results, 'models' | 'jobs' | 'callbacks'>> {
    const groups = { ...groupsOf(weir.pid), 'model server': weir.modelServerPid };
    return {
      ...(wants('e') && {
        models: await timed('Model calls', () => measureModels(load, weir.executeModels, groups, sizes)),
      }),
      ...(wants('b') && {
        jobs: await timed('Jobs', () => measureJobs(load, weir.jobs, sizes.jobs, weir.countCompletedJobs)),
        callbacks: await timed('Webhooks', () =>
          measureJobs(load, weir.callbacks, sizes.callbacks, weir.countDelivered),
        ),
      }),
    };
  }
}

async function startHandWritten(letter: keyof typeof HAND_WRITTEN, address: string): Promise<Candidate> {
  const { file, result } = HAND_WRITTEN[letter];
  const { pid, receive, stop } = startFork(file, { TEMPORAL_ADDRESS: address });
  onStop(stop);
  const { url } = (await receive()) as { url: string };
  const body = JSON.stringify({ message: MESSAGE });
  return { letter, pid, target: { url, body, expect: JSON.stringify({ result }) } };
}

async function timed<T>(name: string, run: () => Promise<T>): Promise<T> {
  const task = progress.begin(name);
  try {
    task.say('measuring');
    const result = await run();
    task.done();
    return result;
  } finally {
    task.drop();
  }
}

function wants(letter: Letter): boolean {
  return options.only.includes(letter);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', default: Object.keys(NAMES).join() },
        json: { type: 'string' },
        neighbours: { type: 'boolean', default: false },
        load: { type: 'string', default: '' },
      },
    });
    const only = values.only.split(',');
    const unknown = only.find((letter) => !(letter in NAMES));
    if (unknown !== undefined) throw new Error(`--only takes letters from a to e, not "${unknown}".`);
    return { ...values, only };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\nUsage: ${USAGE}`);
    return process.exit(2);
  }
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new Error('Interrupted.')));
  });
}
