// main of `npm test` and `npm run test:system`: starts PostgreSQL and Temporal, then runs mocha, several files at a time.
// Arguments go to mocha. With --system, the files run that need other programs or minutes, and all attacks and property
// tests in full size.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { bypassProxy } from '../dev/bypass-proxy.ts';
import { startServers } from './start-servers.ts';

const ALL_TESTS = 'test/**/*.test.ts';
/** Crashes and outages, walks through the console, and files that say so in their names. */
const SYSTEM_TESTS = [
  'test/faults/**/*.test.ts',
  'test/console/walks/**/*.test.ts',
  'test/**/*.system.test.ts',
];
/** Files with attacks or property tests: a fifth of the cases in `npm test`, all of them in `npm run test:system`. */
const FULL_SIZE = /from '(?:[./]+\/full-size\.ts|fast-check)'/;
/** One more than processors, since tests mostly wait. */
const JOBS = Math.min(availableParallelism() + 1, 4);
/** For what never comes: what a test waits for comes, however slow the machine is. */
const TIMEOUT_MS = 180_000;
const ROOT = path.dirname(import.meta.dirname);
/** How long each file took, in milliseconds, when RECORD_DURATIONS=1 was last set. Files start longest first. */
const DURATIONS = path.join(ROOT, 'test/durations.json');
const RESULTS = path.join(ROOT, 'test-results');

type Outcome = { code: number; passed: number; failed: number; pending: number };

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
  const fixed = ['--forbid-only', '--timeout', String(TIMEOUT_MS), '--require', './test/hooks.ts'];
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
      const plain = stripVTControlCharacters(output);
      const [summary = ''] = /^ +\d+ passing\b[\s\S]*/m.exec(plain) ?? [];
      // A process of mocha's that dies may take mocha along, without a word and without an exit code.
      const code = summary === '' ? exitCode || 1 : (exitCode ?? 1);
      const count = (word: string) => Number(RegExp(`^ +(\\d+) ${word}\\b`, 'm').exec(summary)?.[1] ?? 0);
      const failed = code === 0 ? 0 : Math.max(1, count('failing'));
      resolve({ code, passed: count('passing'), failed, pending: count('pending') });
    });
  });
}

/** Lists the test files that paths, folders and globs name: for none, those of the suite. */
function findTests(paths: string[], system: boolean): string[] {
  if (paths.length === 0) return listSuite(system);
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

function listSuite(system: boolean): string[] {
  const all = globSync(ALL_TESTS, { cwd: ROOT });
  const ofSystem = new Set(globSync(SYSTEM_TESTS, { cwd: ROOT }));
  const hasFullSize = (file: string) => FULL_SIZE.test(readFileSync(path.join(ROOT, file), 'utf8'));
  return all.filter((file) => (system ? ofSystem.has(file) || hasFullSize(file) : !ofSystem.has(file)));
}

function readDurations(): { [file: string]: number } {
  return existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, 'utf8')) : {};
}

/** Options and files for mocha. */
function plan(args: string[], system: boolean): string[] {
  const isPath = (argument: string, index: number) =>
    existsSync(argument) ||
    (/^[^-].*(\/|\.ts$)/.test(argument) && !/^-(g|f|-?f?grep)$/.test(args[index - 1] ?? ''));
  const options = args.filter((argument, index) => !isPath(argument, index));
  const durations = readDurations();
  const last = (file: string) => durations[file] ?? Number.POSITIVE_INFINITY;
  const files = findTests(args.filter(isPath), system).sort(
    (a, b) => last(b) - last(a) || a.localeCompare(b),
  );
  // In full, the fault tests take all of the machine.
  const jobs = process.env.WEIR_FAULTS === 'full' ? 1 : JOBS;
  const parallel = files.length > 1 && jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : [];
  return [...parallel, ...options, ...files];
}

/** Reads the durations that `hooks.ts` has noted, and records them where that was asked for. */
function recordDurations(noted: string): void {
  if (!existsSync(noted) || process.env.RECORD_DURATIONS !== '1') return;
  const files = readFileSync(noted, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const measured = files.map(({ file, ms }) => [path.relative(ROOT, file), ms]);
  const known = Object.entries({ ...readDurations(), ...Object.fromEntries(measured) });
  const sorted = known.filter(([file]) => existsSync(path.join(ROOT, file))).sort();
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

const args = process.argv.slice(2).filter((argument) => argument !== '--system');
const system = process.argv.includes('--system');
// The output is that of the tests; they look at the log where it matters.
process.env.WEIR_LOG_LEVEL ??= 'silent';
// Programs that tests start again and again are compiled once.
process.env.NODE_COMPILE_CACHE ??= path.join(ROOT, 'node_modules', '.cache', 'node');
if (system) process.env.TEST_SIZE = 'full';
mkdirSync(RESULTS, { recursive: true });
const noted = path.join(RESULTS, 'durations.jsonl');
rmSync(noted, { force: true });
const options = plan(args, system);
const began = performance.now();
const servers = await startServers();
const outcome = interrupted ? undefined : await runMocha({ ...servers.env, TEST_DURATIONS: noted }, options);
await servers.stop();
recordDurations(noted);
const { code = 1, passed = 0, failed = 0, pending = 0 } = outcome ?? {};
const command = system ? 'npm run test:system' : 'npm test';
const seconds = Math.round((performance.now() - began) / 1_000);
const run = { command: [command, ...args].join(' '), seconds, passed, failed, skipped: pending };
if (args.length === 0)
  writeFileSync(path.join(RESULTS, `${system ? 'system' : 'test'}.json`), JSON.stringify(run));
console.log(`${command} took ${Math.floor(seconds / 60)} min ${seconds % 60} s`);
console.log(`${passed} passed, ${failed} failed, ${pending} skipped`);
process.exitCode = interrupted ? 130 : code;
