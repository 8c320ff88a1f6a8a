// The console of a local start, built while the servers come up. The service serves it from dist/console.
import path from 'node:path';
import { startChild } from './processes/child.ts';
import type { Progress } from './progress.ts';

const PROGRAM = path.join(path.dirname(import.meta.dirname), 'console/build/build.ts');

/** Builds the console if its sources have changed. Says why that failed and never throws: the API works without it. */
export async function buildConsole(
  stateFolder: string,
  progress: Progress,
  signal: AbortSignal,
  program: string = PROGRAM,
): Promise<void> {
  const task = progress.begin('Console');
  task.say('building it');
  const build = startChild({
    stateFolder,
    name: 'console-build',
    order: 1,
    command: process.execPath,
    args: [program],
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
  });
  const outcome = await build.exited;
  const [said = ''] = build.logTail().split('\n').slice(-1);
  if (outcome === 'ended with code 0') return task.done(said);
  task.drop();
  if (signal.aborted) return;
  task.note(`it could not be built: ${said}`);
  task.note(`the log is ${build.logFile}. When mended, run npm run console:build and reload the page`);
}
