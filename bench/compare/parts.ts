// What is measured of Weir besides its candidates: each part gives figures by name.

import { setTimeout as sleep } from 'node:timers/promises';
import { passthrough } from '../../test/blocks.ts';
import type { LoadGenerator, LoadTarget } from '../setup/load.ts';
import { quantile } from '../setup/statistics.ts';
import type { Outside, Weir } from '../setup/weir.ts';
import { CANDIDATES, MESSAGE } from './candidates.ts';
import { measureLargeOutputs, measureLongCalls, measureManyRuns } from './large-parts.ts';
import type { Sizes } from './sizes.ts';

const CALLS = 200;
const WARM_UP_CALLS = 20;

const JOBS_TIMEOUT_MS = 5 * 60_000;
const JOBS_POLL_MS = 100;

const FLOOD_CALLERS = 256;

/** So long the flood has run before the quiet organization calls beside it. */
const RISE_MS = 4_000;

type PartContext = {
  weir: Weir;
  outside: Outside;
  temporalAddress: string;
  /** undefined when the server was not started here. */
  temporalPid: number | undefined;
  /** Two generators, for parts in which one load runs beside another. */
  loads: readonly [LoadGenerator, LoadGenerator];
  sizes: Sizes;
};

export type Part = {
  title: string;
  /** True when one round is enough. */
  once?: true;
  measure(context: PartContext): Promise<Record<string, number>>;
};

export const PARTS = {
  flood: {
    title: 'A quiet organization beside a flood',
    measure: ({ weir, loads, sizes }) => measureFlood(...loads, weir, sizes.floodSeconds),
  },
  long: {
    title: 'Long model calls',
    measure: ({ weir, loads, temporalPid, sizes }) => measureLongCalls(...loads, weir, temporalPid, sizes),
  },
  large: {
    title: '200 blocks in a row with large outputs',
    once: true,
    measure: ({ weir, temporalAddress, sizes }) =>
      measureLargeOutputs(weir, temporalAddress, sizes.outputBytes),
  },
  jobs: {
    title: 'Jobs',
    once: true,
    async measure({ weir, loads, sizes }) {
      const caller = await weir.createCaller();
      const target = await caller.target(CANDIDATES.b.flow, '"status":"started"', 'jobs');
      return measureJobs(loads[0], target, sizes.jobs, () => countCompletedJobs(weir));
    },
  },
  webhooks: {
    title: 'Webhooks',
    once: true,
    async measure({ weir, outside, loads, sizes }) {
      const caller = await weir.createCaller();
      const { callbackUrl } = outside;
      const target = await caller.target(CANDIDATES.b.flow, '"status":"started"', 'jobs', callbackUrl);
      return measureJobs(loads[0], target, sizes.callbacks, () => countDelivered(weir));
    },
  },
  step: {
    title: '/step',
    measure: ({ weir }) => measureStep(weir),
  },
  // The last one, since what it leaves in the database stays there.
  million: {
    title: 'Beside many runs',
    once: true,
    measure: ({ weir, loads, sizes }) => measureManyRuns(loads[0], weir, sizes.manyRuns),
  },
} satisfies Record<string, Part>;

export type PartName = keyof typeof PARTS;

async function countCompletedJobs({ db }: Weir): Promise<number> {
  const { completed } = await db
    .selectFrom('run')
    .select(({ fn }) => fn.countAll<number>().as('completed'))
    .where('mode', '=', 'jobs')
    .where('status', '=', 'completed')
    .executeTakeFirstOrThrow();
  return Number(completed);
}

async function countDelivered({ db }: Weir): Promise<number> {
  const { delivered } = await db
    .selectFrom('webhook_delivery')
    .select(({ fn }) => fn.countAll<number>().as('delivered'))
    .where('status', '=', 'succeeded')
    .executeTakeFirstOrThrow();
  return Number(delivered);
}

/** Measures an organization that calls once a second: alone, and beside another organization with 256 callers. */
async function measureFlood(flood: LoadGenerator, quiet: LoadGenerator, weir: Weir, seconds: number) {
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

/** Starts `count` runs, 16 requests at a time, and waits until `countComplete` has counted that many more. */
async function measureJobs(
  load: LoadGenerator,
  target: LoadTarget,
  count: number,
  countComplete: () => Promise<number>,
) {
  const before = await countComplete();
  const began = performance.now();
  const accepted = await load.run({ ...target, concurrency: 16, maxRequests: count, maxMs: JOBS_TIMEOUT_MS });
  for (;;) {
    const complete = (await countComplete()) - before;
    const seconds = (performance.now() - began) / 1_000;
    if (complete === count)
      return { 'accepted per second': accepted.perSecond, 'completed per second': count / seconds };
    if (seconds * 1_000 > JOBS_TIMEOUT_MS)
      throw new Error(`Only ${complete} of ${count} runs completed within 5 minutes.`);
    await sleep(JOBS_POLL_MS);
  }
}

/** Measures how long one caller of `/step` waits for the first event, and for the end of the stream. */
async function measureStep(weir: Weir) {
  const caller = await weir.createCaller();
  const flow = ['first', 'second', 'third'].map((stepId) => passthrough(stepId));
  const { url, headers = {} } = await caller.target(flow, '', 'step');
  const body = JSON.stringify({ executionId: null, stepIndex: 0, message: MESSAGE, runRemaining: true });
  const firsts: number[] = [];
  const ends: number[] = [];
  for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
    const began = performance.now();
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    let text = '';
    let first = 0;
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (first === 0 && text.includes('event:')) first = performance.now() - began;
    }
    if (!text.includes('run_completed')) throw new Error(`/step answered ${answer.status}: ${text}`);
    if (call < WARM_UP_CALLS) continue;
    firsts.push(first);
    ends.push(performance.now() - began);
  }
  return {
    'first event, p50 ms': quantile(firsts, 0.5),
    'first event, p95 ms': quantile(firsts, 0.95),
    'three blocks, p50 ms': quantile(ends, 0.5),
  };
}
