import { setPriority } from 'node:os';

const THREAD_NICENESS = 5;

/** Has the calling thread yield the processors to the rest of the service. On Linux alone: elsewhere the whole service would. */
export function yieldProcessors(): void {
  if (process.platform === 'linux') setPriority(THREAD_NICENESS);
}
