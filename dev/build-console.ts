// The console of a local start, built while the servers come up. The service serves it from dist/console.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type Child, startChild } from './processes/child.ts';
import type { Progress } from './progress.ts';

const PROGRAM = path.join(path.dirname(import.meta.dirname), 'console/build/build.ts');
const NAME = 'console-build';
/** Maximum time of a build, many times the usual time, so that a hanging build does not block the start. */
const LIMIT_MS = 120_000;
const NEXT = 'When mended, run npm run console:build and reload the page';

/** Builds the console if its sources have changed. Says why that failed and never throws: the API works without it. */
export async function buildConsole(
  stateFolder: string,
  progress: Progress,
  signal: AbortSignal,
  { program = PROGRAM, limitMs = LIMIT_MS } = {},
): Promise<void> {
  const task = progress.begin('Console');
  task.say('building it');
  try {
    const build = startBuild(stateFolder, program);
    const outcome = await withinLimit(build, limitMs);
    const [said = ''] = build.logTail().split('\n').slice(-1);
    if (outcome === 'ended with code 0') return task.done(said);
    task.drop();
    if (signal.aborted) return;
    const why = outcome === 'ended with code 1' && said !== '' ? said : `the build ${outcome}`;
    task.note(`it could not be built: ${why}`);
    task.note(`the log is ${build.logFile}. ${NEXT}`);
  } catch (error) {
    task.drop();
    task.note(`it could not be built: ${error instanceof Error ? error.message : error}. ${NEXT}`);
  }
}

/** Starts a build whose log has nothing of an earlier one. */
function startBuild(stateFolder: string, program: string): Child {
  rmSync(path.join(stateFolder, 'logs', `${NAME}.log`), { force: true });
  return startChild({
    stateFolder,
    name: NAME,
    order: 1,
    command: process.execPath,
    args: [program],
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
  });
}

/** Waits for the end of a build, and stops a slow build. Returns the outcome. */
async function withinLimit(build: Child, limitMs: number): Promise<string> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void build.stop();
  }, limitMs);
  const outcome = await build.exited;
  clearTimeout(timer);
  return late ? `was stopped: it took longer than ${Math.round(limitMs / 1_000)} s` : outcome;
}
