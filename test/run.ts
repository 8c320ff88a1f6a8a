// main of `npm test`: brings up PostgreSQL and Temporal of its own, then runs mocha. Arguments go to mocha.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startPostgres } from '../embedded/postgres/postgres.ts';
import { startWatchdog } from '../embedded/processes/watchdog.ts';
import { createProgress } from '../embedded/report.ts';
import { startTemporal } from '../embedded/temporal/temporal.ts';

const ALL_TESTS = 'test/**/*.test.ts';
/** What a test waits for comes, however slow the machine is: this is for what never comes. */
const TIMEOUT_MS = 180_000;
const root = path.dirname(import.meta.dirname);

type Servers = { env: NodeJS.ProcessEnv; stop(): Promise<void> };

/** Uses TEST_DATABASE_URL and TEST_TEMPORAL_ADDRESS where they are set. */
async function startServers(): Promise<Servers> {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-test-'));
  startWatchdog(stateFolder);
  const progress = createProgress();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.map((stopOne) => stopOne()));
    rmSync(stateFolder, { recursive: true, force: true });
  };
  const bringUp = async (
    variable: string,
    name: string,
    start: (report: (line: string) => void) => Promise<string>,
  ) => {
    const given = process.env[variable];
    if (given) return [variable, given];
    const task = progress.begin(name);
    try {
      const value = await start(task.say);
      task.done(value.replace(/:[^:@/]+@/, ':…@'));
      return [variable, value];
    } finally {
      task.drop();
    }
  };
  const started = await Promise.allSettled([
    bringUp('TEST_DATABASE_URL', 'PostgreSQL', async (report) => {
      const postgres = await startPostgres({ stateFolder, password: 'weir', durable: false, report });
      stops.push(async () => {
        await postgres.stop();
        rmSync(postgres.folder, { recursive: true, force: true });
      });
      return postgres.url;
    }),
    bringUp('TEST_TEMPORAL_ADDRESS', 'Temporal', async (report) => {
      const temporal = await startTemporal({ stateFolder, durable: false, report });
      stops.push(temporal.stop);
      return temporal.address;
    }),
  ]);
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const variables = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return { env: { ...process.env, ...Object.fromEntries(variables) }, stop };
}

/** Runs mocha in its own process, shows its output, and counts what it says passed and failed. */
function runMocha(env: NodeJS.ProcessEnv): Promise<{ code: number; passed: number; failed: number }> {
  const given = process.argv.slice(2);
  const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
  const child = spawn(
    process.execPath,
    [
      ...[mocha, '--forbid-only', '--timeout', String(TIMEOUT_MS), '--require', './test/end-of-run.ts'],
      ...(process.stdout.isTTY ? ['--color'] : []),
      ...given,
      ...(given.some((argument) => existsSync(argument) || argument.endsWith('.ts')) ? [] : [ALL_TESTS]),
    ],
    { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    output += text;
  });
  // The servers are still to be stopped: end mocha, and go on from there.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const count = (word: string) => {
    const found = stripVTControlCharacters(output).matchAll(RegExp(`^ +(\\d+) ${word}\\b`, 'gm'));
    return Number([...found].at(-1)?.[1] ?? 0);
  };
  return new Promise((resolve) => {
    child.on('close', (exitCode) => {
      const code = exitCode ?? 1;
      resolve({ code, passed: count('passing'), failed: code === 0 ? 0 : Math.max(1, count('failing')) });
    });
  });
}

const servers = await startServers();
const { code, passed, failed } = await runMocha(servers.env);
await servers.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = code;
