import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Runs `work` and returns how many threads this process has started meanwhile. */
export async function countThreads(work: () => Promise<unknown>): Promise<number> {
  let started = 0;
  const count = () => {
    started += 1;
  };
  subscribe('worker_threads', count);
  try {
    await work();
  } finally {
    unsubscribe('worker_threads', count);
  }
  return started;
}
