import { gauge } from './instruments.ts';

export const buildInfo = gauge({
  name: 'weir.build.info',
  unit: '{process}',
  description: '1; the labels say which version of Weir the process runs, and which build.',
  labels: ['version', 'build'],
});

export const connectionCount = gauge({
  name: 'db.client.connection.count',
  unit: '{connection}',
  description: 'Open connections to PostgreSQL.',
  labels: ['db.client.connection.state'],
});

export const connectionMax = gauge({
  name: 'db.client.connection.max',
  unit: '{connection}',
  description: 'The most connections to PostgreSQL that the process opens.',
});

export const connectionWaits = gauge({
  name: 'db.client.connection.pending_requests',
  unit: '{request}',
  description: 'Work that waits for a connection to PostgreSQL.',
});

export const dependencyUp = gauge({
  name: 'weir.dependency.up',
  unit: '{dependency}',
  description: '1 while the process can use the part, 0 while it is away.',
  labels: ['dependency'],
});

/** One gauge for each percentile. */
export const eventLoopDelays = (['p50', 'p90', 'p99', 'max'] as const).map((part) => ({
  part,
  delay: gauge({
    name: `nodejs.eventloop.delay.${part}`,
    unit: 's',
    description: `Delay of the event loop in the last 10 s, ${part}.`,
  }),
}));

export const eventLoopUtilization = gauge({
  name: 'nodejs.eventloop.utilization',
  unit: '1',
  description: 'Share of the last 10 s in which the event loop was not idle.',
});

export const processorTime = gauge({
  name: 'process.cpu.time',
  unit: 's',
  description: 'Processor time of the process, all threads included.',
  grows: true,
});

export const memoryUsage = gauge({
  name: 'process.memory.usage',
  unit: 'By',
  description: 'Resident memory of the process.',
});
