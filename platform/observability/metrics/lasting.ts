import type { Gauge, Reading } from './instruments.ts';

/**
 * Makes a gauge of values that one worker at a time finds. What is set is exported for `lastMs`, so that a process which no
 * longer looks does not repeat old values.
 */
export function lasting<Label extends string>(
  gauge: Gauge<Label>,
  lastMs: number,
): { set(readings: Reading<Label>[]): void } {
  let current: Reading<Label>[] = [];
  let until = 0;
  gauge.observe(() => (performance.now() < until ? current : []));
  return {
    set(readings) {
      current = readings;
      until = performance.now() + lastMs;
    },
  };
}
