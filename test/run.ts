// main of `npm test`: starts PostgreSQL and Temporal, then runs mocha, several files at a time. Arguments go to mocha.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { bypassProxy } from '../dev/bypass-proxy.ts';
import { startServers } from './start-servers.ts';

const ALL_TESTS = 'test/**/*.test.ts';
/** Run first, in this order: the others fill the time beside them. */
const LONGEST = [
  // Builds Helm, where the cache does not have it.
  'test/deploy/chart.test.ts',
  'test/faults/outages.test.ts',
  'test/api/reference/schemathesis.test.ts',
  'test/cli/operator/commands.test.ts',
  'test/faults/kill.test.ts',
  'test/api/mcp/inspector.test.ts',
  'test/examples.test.ts',
  'test/faults/frozen.test.ts',
  'test/start.test.ts',
  'test/faults/engine-away-under-call.test.ts',
  'test/faults/lost-under-block.test.ts',
  'test/faults/parked-at-last.test.ts',
  'test/faults/rolling.test.ts',
  'test/faults/webhook-turns.test.ts',
  'test/workflows/run-model-call.test.ts',
  'test/activities/code/sandbox-hostile.test.ts',
  'test/platform/json-schema/hostile-schemas.test.ts',
  'test/faults/webhook-schedule.test.ts',
  'test/workflows/run-flow.test.ts',
];
/** Run last, one at a time, each for its reason. */
const ALONE = [
  // While the database is too slow to count requests, they are not limited.
  'test/api/auth/limit-rate.test.ts',
  // A thousand deliveries and a worker killed among them keep all processors busy: other tests' deadlines pass.
  'test/faults/webhook-kill.test.ts',
];
/** One more than processors, since tests mostly wait. */
const JOBS = Math.min(availableParallelism() + 1, 4);
/** For what never comes: what a test waits for comes, however slow the machine is. */
const TIMEOUT_MS = 180_000;
const ROOT = path.dirname(import.meta.dirname);

type Outcome = { code: number; passed: number; failed: number; summary: string };

bypassProxy(process.env);
let mocha: ChildProcess | undefined;
let interrupted = false;
// The servers are still to be stopped: end mocha, and go on from there.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interrupted = true;
    mocha?.kill(signal);
  });

/** Runs mocha in its own process and shows its output. */
function runMocha(env: NodeJS.ProcessEnv, options: string[]): Promise<Outcome> {
  const main = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
  const color = process.stdout.isTTY ? ['--color'] : [];
  const fixed = ['--forbid-only', '--timeout', String(TIMEOUT_MS), '--require', './test/end-of-run.ts'];
  const child = spawn(process.execPath, [main, ...fixed, ...color, ...options], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  mocha = child;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    output += text;
  });
  return new Promise((resolve) => {
    child.on('close', (exitCode) => {
      const [summary = ''] = /^ +\d+ passing\b[\s\S]*/m.exec(stripVTControlCharacters(output)) ?? [];
      // A process of mocha's that dies may take mocha along, without a word and without an exit code.
      const code = summary === '' ? exitCode || 1 : (exitCode ?? 1);
      const count = (word: string) => Number(RegExp(`^ +(\\d+) ${word}\\b`, 'm').exec(summary)?.[1] ?? 0);
      resolve({
        code,
        passed: count('passing'),
        failed: code === 0 ? 0 : Math.max(1, count('failing')),
        summary,
      });
    });
  });
}

/** Lists the test files that paths, folders and globs name: all of them for none. */
function findTests(paths: string[]): string[] {
  if (paths.length === 0) return globSync(ALL_TESTS, { cwd: ROOT });
  const isFolder = (name: string) => existsSync(name) && statSync(name).isDirectory();
  return paths.flatMap((name) => {
    const files = globSync(isFolder(name) ? path.join(name, '**/*.test.ts') : name, { cwd: ROOT });
    const wrong = files.length === 0 ? name : files.find((file) => !file.endsWith('.test.ts'));
    if (wrong === undefined) return files;
    console.error(
      `${wrong} names no test: give a *.test.ts file, a folder that has some, or a glob in quotes.`,
    );
    return process.exit(1);
  });
}

/** The files of each mocha process: those that run side by side, then those that run alone. */
function planRuns(args: string[]): string[][] {
  const isPath = (argument: string, index: number) =>
    existsSync(argument) ||
    (/^[^-].*(\/|\.ts$)/.test(argument) && !/^-(g|f|-f?grep)$/.test(args[index - 1] ?? ''));
  const options = args.filter((argument, index) => !isPath(argument, index));
  const files = findTests(args.filter(isPath));
  // In full, the fault tests take all of the machine.
  const isAlone = (file: string) => ALONE.includes(file) || process.env.WEIR_FAULTS === 'full';
  const alone = files.filter(isAlone).sort();
  const others = files.filter((file) => !isAlone(file)).sort();
  const rank = (file: string) => (LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length);
  others.sort((a, b) => rank(a) - rank(b));
  const parallel = others.length > 1 ? ['--parallel', '--jobs', String(JOBS)] : [];
  return [
    ...(others.length > 0 ? [[...parallel, ...options, ...others]] : []),
    ...(alone.length > 0 ? [[...options, ...alone]] : []),
  ];
}

// The output is that of the tests; they look at the log where it matters.
process.env.WEIR_LOG_LEVEL ??= 'silent';
// Programs that tests start again and again are compiled once.
process.env.NODE_COMPILE_CACHE ??= path.join(ROOT, 'node_modules', '.cache', 'node');
const runs = planRuns(process.argv.slice(2));
const servers = await startServers();
const outcomes: Outcome[] = [];
for (const options of runs) if (!interrupted) outcomes.push(await runMocha(servers.env, options));
await servers.stop();
for (const { code, summary } of outcomes.slice(0, -1)) if (code !== 0) console.log(summary);
const sum = (key: 'passed' | 'failed') => outcomes.reduce((total, outcome) => total + outcome[key], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
const failure = interrupted ? 130 : outcomes.find(({ code }) => code !== 0)?.code;
process.exitCode = failure ?? (outcomes.length > 0 ? 0 : 1);
