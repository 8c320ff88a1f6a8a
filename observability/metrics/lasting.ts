import type { Gauge } from './instruments.ts';

/** Values that are set now and then, and forgotten when they are not. */
type Lasting<Reading> = { set(readings: Reading[]): void };

/**
 * Makes a gauge of values that one worker at a time finds: they are exported for `lastMs`, so that a process which does no
 * longer look does not repeat old ones.
 */
export function lasting<Label extends string>(
  gauge: Gauge<Label>,
  lastMs: number,
): Lasting<ReturnType<Parameters<Gauge<Label>['observe']>[0]>[number]> {
  let current: ReturnType<Parameters<Gauge<Label>['observe']>[0]> = [];
  let until = 0;
  gauge.observe(() => (performance.now() < until ? current : []));
  return {
    set(readings) {
      current = readings;
      until = performance.now() + lastMs;
    },
  };
}
