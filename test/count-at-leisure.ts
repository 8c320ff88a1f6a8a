// Rate limits let a request pass that the database is slow to count: not while a test looks at what is counted.
import { mock } from 'node:test';
import { COUNT_TIMEOUT_MS } from '../api/auth/limit-rate.ts';

const AT_LEISURE_MS = 2 ** 31 - 1;

/** From now on, until `restore()`, every API of this process waits for its database to count. */
export function countAtLeisure(): { restore(): void } {
  const { setTimeout } = globalThis;
  const patient = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    setTimeout(callback, ms === COUNT_TIMEOUT_MS ? AT_LEISURE_MS : ms, ...args);
  return mock.method(globalThis, 'setTimeout', patient as typeof setTimeout).mock;
}
