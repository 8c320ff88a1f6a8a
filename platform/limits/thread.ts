// How the threads of the service begin, in their process and in themselves.
import { flushCompileCache } from 'node:module';
import { setPriority } from 'node:os';

const THREAD_NICENESS = 5;
const { NODE_COMPILE_CACHE } = process.env;

/**
 * How a thread starts: it sees none of the process's secrets, and finds the code that earlier ones compiled. Without that it
 * would load the compiler of TypeScript, which takes 11 MB.
 */
export const THREAD_OPTIONS = { env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}, execArgv: [] };

/**
 * Has the calling thread yield the processors to the rest of the service, on Linux alone: elsewhere the whole service would. Keeps
 * the code that the thread has compiled: it is ended without notice, and the code would be lost with it.
 */
export function beginThread(): void {
  if (process.platform === 'linux') setPriority(THREAD_NICENESS);
  flushCompileCache();
}
