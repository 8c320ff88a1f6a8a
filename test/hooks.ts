// Loaded by mocha: notes how long each file takes, and ends a process in which a failed set-up left servers open.
import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Context } from 'mocha';
import { propertyRuns } from './full-size.ts';

const GRACE_MS = 20_000;

fc.configureGlobal({ numRuns: propertyRuns(100) });

let began = 0;
let environment: NodeJS.ProcessEnv;
let file: string | undefined;

/** mocha runs these for each file where files run side by side, else once for all. */
export const mochaHooks = {
  beforeAll(): void {
    began = performance.now();
    file = undefined;
    environment = { ...process.env };
  },
  beforeEach(this: Context): void {
    file ??= this.currentTest?.file;
  },
  afterAll(): void {
    // What a file sets, such as the NODE_ENV of a build, ends with the file.
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    const { TEST_DURATIONS } = process.env;
    const ms = Math.round(performance.now() - began);
    if (TEST_DURATIONS && file)
      appendFileSync(TEST_DURATIONS, `${JSON.stringify({ file, ms, pid: process.pid })}\n`);
  },
};

const ends: (() => Promise<unknown>)[] = [];

/**
 * Has `end` called after the last test, the last one added first. Where files run side by side, mocha ends their processes
 * instead.
 */
export function atEndOfRun(end: () => Promise<unknown>): void {
  ends.unshift(end);
}

/** Closes what the files of this process share. CI would wait for ever for what is still open. */
export async function mochaGlobalTeardown(): Promise<void> {
  setTimeout(() => {
    console.error(`Something is still open ${GRACE_MS / 1_000} s after the last test: ending it.`);
    process.exit();
  }, GRACE_MS).unref();
  for (const end of ends) await end();
}
