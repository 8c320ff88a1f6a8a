// The metrics of the gates of one process.
import type { FairQueue } from '../../limits/fair-queue.ts';
import { counter, gauge } from './instruments.ts';

type Count = ReturnType<FairQueue['count']>;

const gaugeOfGate = (name: string, unit: string, description: string) =>
  gauge({ name: `weir.gate.${name}`, unit, description, labels: ['gate'] });

const GAUGES: { gauge: ReturnType<typeof gaugeOfGate>; read: (count: Count) => number }[] = [
  {
    gauge: gaugeOfGate('permits', '{permit}', 'Permits in flight.'),
    read: ({ inFlight }) => inFlight,
  },
  {
    gauge: gaugeOfGate(
      'weight',
      '{weight}',
      'The weight of permits in flight: bytes where the gate is about bytes.',
    ),
    read: ({ weight }) => weight,
  },
  {
    gauge: gaugeOfGate('queued', '{request}', 'Requests that are queued for a permit.'),
    read: ({ queued }) => queued,
  },
  {
    gauge: gaugeOfGate('oldest_wait', 's', 'How long the oldest queued request has waited.'),
    read: ({ oldestWaitMs }) => oldestWaitMs / 1_000,
  },
];

/** Exports the counts of gates, each under its name here, until the returned function is called. */
export function observeGates(gates: { [gate: string]: Pick<FairQueue, 'count'> }): () => void {
  const stops = GAUGES.map(({ gauge, read }) =>
    gauge.observe(() =>
      Object.entries(gates).map(([gate, queue]) => ({ value: read(queue.count()), labels: { gate } })),
    ),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

export const rescheduledAttempts = counter({
  name: 'weir.attempts.rescheduled',
  unit: '{attempt}',
  description: 'Attempts of activities that got no permit (`WAITS_FOR_PERMIT`) and are made again.',
  zeros: [{}],
});
