import { setTimeout as sleep } from 'node:timers/promises';
import { llm, passthrough } from '../test/blocks.ts';
import type { LoadGenerator } from './load.ts';
import type { Sizes } from './sizes.ts';
import type { Weir } from './weir.ts';

/** So long after their start, the runs with long calls are under way. */
const RISE_MS = 3_000;
const BESIDE_MAX_MS = 10_000;

/**
 * Measures runs of one long model call each, sent at one moment and then in turn until as many are under way, and one caller
 * of three passthroughs beside the first.
 */
export async function measureLongCalls(
  long: LoadGenerator,
  short: LoadGenerator,
  weir: Weir,
  { longCalls, longMs }: Sizes,
) {
  const caller = await weir.createCaller();
  const expect = '"status":"completed"';
  const waiting = await caller.target([llm('wait', '{{message}}', `demo/slow-${longMs}`)], expect);
  const quick = await caller.target(
    ['first', 'second', 'third'].map((stepId) => passthrough(stepId)),
    expect,
  );
  const maxMs = Math.min(BESIDE_MAX_MS, longMs - RISE_MS);
  const callShort = () =>
    short.run({ ...quick, concurrency: 1, maxMs, maxRequests: Number.MAX_SAFE_INTEGER });
  const alone = await callShort();
  const [calls, beside] = await Promise.all([
    long.run({ ...waiting, concurrency: longCalls, maxRequests: longCalls, maxMs: longMs }),
    sleep(RISE_MS).then(callShort),
  ]);
  const inTurn = await long.run({
    ...waiting,
    concurrency: longCalls,
    everyMs: longMs / longCalls,
    maxRequests: longCalls,
    maxMs: Number.MAX_SAFE_INTEGER,
  });
  return {
    'calls at once': longCalls,
    'time of a call, ms': longMs,
    'added to those in turn, p50 ms': inTurn.p50 - longMs,
    'added to those in turn, p95 ms': inTurn.p95 - longMs,
    'added to those of one moment, p50 ms': calls.p50 - longMs,
    'added to those of one moment, p95 ms': calls.p95 - longMs,
    'passthroughs alone, p50 ms': alone.p50,
    'passthroughs beside, p50 ms': beside.p50,
    'passthroughs beside, p95 ms': beside.p95,
  };
}
