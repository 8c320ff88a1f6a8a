// Finds the processes that run users' code.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { CodeCall } from '../../../activities/code/sandbox.ts';

/** Makes a call of this code, with the longest timeout unless another is given. */
export const call = (source: string, timeoutMs = 120_000): CodeCall => ({
  source,
  input: 1,
  message: '',
  parameters: {},
  outputs: {},
  timeoutMs,
});

/** Finds the guest processes among the children of `parent`; Linux only. */
export function guestsOf(parent: number): number[] {
  const children = readdirSync(`/proc/${parent}/task`).flatMap((task) =>
    read(`/proc/${parent}/task/${task}/children`).trim().split(' '),
  );
  return children.filter((pid) => pid !== '' && isAlive(pid) && guestLine(pid)).map(Number);
}

/** Returns a function that finds guests that this process starts from now on. The shared Weir may have others. Linux only. */
export function watchGuests(): () => number[] {
  const others = new Set(guestsOf(process.pid));
  return () => guestsOf(process.pid).filter((pid) => !others.has(pid));
}

const guestLine = (pid: string): boolean =>
  /\/(sandbox|code)\/guest\.[jt]s/.test(read(`/proc/${pid}/cmdline`));

/** Answers whether a process or thread exists and is not a zombie; Linux only. */
export const isAlive = (pid: number | string): boolean =>
  /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`));

/** Reads a file below /proc; returns '' when the process or thread has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    assert.match((error as NodeJS.ErrnoException).code ?? '', /^(ENOENT|ESRCH)$/);
    return '';
  }
}
