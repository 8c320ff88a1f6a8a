import { setTimeout as sleep } from 'node:timers/promises';
import { passthrough } from '../test/blocks.ts';
import type { LoadGenerator } from './load.ts';
import type { Weir } from './weir.ts';

const FLOOD_CALLERS = 256;
/** So long the flood has run before the quiet organization calls beside it. */
const RISE_MS = 4_000;

/** Measures an organization that calls once a second: alone, and beside another organization with 256 callers. */
export async function measureFlood(flood: LoadGenerator, quiet: LoadGenerator, weir: Weir, seconds: number) {
  const flow = ['first', 'second', 'third'].map((stepId) => passthrough(stepId));
  const expect = '"status":"completed"';
  const [calling, flooding] = [await weir.createCaller(), await weir.createCaller()];
  const target = await calling.target(flow, expect);
  const floodTarget = await flooding.target(flow, expect);
  const bounds = { maxRequests: Number.MAX_SAFE_INTEGER, maxMs: seconds * 1_000 };
  const callEachSecond = () => quiet.run({ ...target, ...bounds, concurrency: 1, everyMs: 1_000 });
  const alone = await callEachSecond();
  const [crowd, beside] = await Promise.all([
    flood.run({ ...floodTarget, ...bounds, concurrency: FLOOD_CALLERS, maxMs: bounds.maxMs + RISE_MS }),
    sleep(RISE_MS).then(callEachSecond),
  ]);
  return {
    'alone, p50 ms': alone.p50,
    'alone, p95 ms': alone.p95,
    'beside the flood, p50 ms': beside.p50,
    'beside the flood, p95 ms': beside.p95,
    'beside the flood, longest ms': beside.max,
    'beside the flood, refused': beside.refused,
    'the flood, runs/s': crowd.perSecond,
    'the flood, p50 ms': crowd.p50,
    'the flood, p95 ms': crowd.p95,
    'the flood, refused': crowd.refused,
  };
}
