// While the database is slow to count requests, rate limits let them pass; a test of what is counted must wait instead.
import { mock } from 'node:test';
import { COUNT_TIMEOUT_MS } from '../api/auth/request-leases.ts';

const AT_LEISURE_MS = 2 ** 31 - 1;

/** Makes every API in this process wait until its database has counted, until `restore()`. */
export function countAtLeisure(): { restore(): void } {
  const { setTimeout } = globalThis;
  const patient = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    setTimeout(callback, ms === COUNT_TIMEOUT_MS ? AT_LEISURE_MS : ms, ...args);
  return mock.method(globalThis, 'setTimeout', patient as typeof setTimeout).mock;
}
