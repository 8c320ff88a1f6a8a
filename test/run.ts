// main of `npm test`: starts PostgreSQL and Temporal, then runs mocha, several files at a time. Arguments go to mocha.
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startServers } from './start-servers.ts';

const ALL_TESTS = 'test/**/*.test.ts';
/** The files that take longest: begun last, one of them would keep all others waiting for it. */
const LONGEST = ['test/cli/weir.test.ts'];
/** For what never comes: what a test waits for does come, however slow the machine is. */
const TIMEOUT_MS = 180_000;
/** A test file waits more than it computes: one more than there are processors keeps these busy. */
const JOBS = Math.min(availableParallelism(), 4) + 1;
const root = path.dirname(import.meta.dirname);

/** Runs mocha in its own process, shows its output, and counts what it says passed and failed. */
function runMocha(env: NodeJS.ProcessEnv): Promise<{ code: number; passed: number; failed: number }> {
  const given = process.argv.slice(2);
  const isFile = (argument: string) => existsSync(argument) || argument.endsWith('.ts');
  const patterns = given.filter(isFile);
  const files = globSync(patterns.length > 0 ? patterns : ALL_TESTS, { cwd: root }).sort();
  files.sort((a, b) => Number(LONGEST.includes(b)) - Number(LONGEST.includes(a)));
  const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
  const child = spawn(
    process.execPath,
    [
      ...[mocha, '--forbid-only', '--timeout', String(TIMEOUT_MS), '--require', './test/end-of-run.ts'],
      ...(files.length > 1 ? ['--parallel', '--jobs', String(JOBS)] : []),
      ...(process.stdout.isTTY ? ['--color'] : []),
      ...given.filter((argument) => !isFile(argument)),
      ...files,
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
