import { mock } from 'node:test';

/** No test waits for it. */
const NEVER_MS = 2 ** 30;

/** Has timers end, and time pass, only where the test says so; `mock.restoreAll` gives the clock and timers back. */
export function holdTimers() {
  const { setTimeout } = globalThis;
  const timers: { ms: number; end(): void }[] = [];
  let now = performance.now();
  mock.method(performance, 'now', () => now);
  mock.method(globalThis, 'setTimeout', (end: () => void, ms: number) => {
    timers.push({ ms, end });
    return setTimeout(end, NEVER_MS);
  });
  return {
    /** The timer begun last, with the milliseconds it was begun with. */
    last: () => timers.at(-1),
    pass(ms: number) {
      now += ms;
    },
  };
}
