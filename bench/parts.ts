// What is measured of Weir besides its candidates: each part gives figures by name.
import { CANDIDATES } from './candidates.ts';
import { measureFlood } from './flood.ts';
import { measureJobs } from './jobs.ts';
import { measureLargeOutputs } from './large-outputs.ts';
import type { LoadGenerator } from './load.ts';
import { measureLongCalls } from './long-calls.ts';
import { measureManyRuns } from './many-runs.ts';
import type { Sizes } from './sizes.ts';
import { measureStep } from './step.ts';
import type { Outside, Weir } from './weir.ts';

type PartContext = {
  weir: Weir;
  outside: Outside;
  temporalAddress: string;
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
    measure: ({ weir, loads, sizes }) => measureLongCalls(...loads, weir, sizes),
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
