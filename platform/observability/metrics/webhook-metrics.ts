import { counter, gauge, histogram } from './instruments.ts';

export const attemptDuration = histogram({
  name: 'weir.webhook.attempt.duration',
  unit: 's',
  description: 'Time that an attempt of a delivery took.',
  labels: ['result'],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

export const deadLetters = counter({
  name: 'weir.webhook.dead_letters',
  unit: '{delivery}',
  description: 'Deliveries that became dead letters.',
  zeros: [{}],
});

export const oldestDueDelivery = gauge({
  name: 'weir.webhook.oldest_due_age',
  unit: 's',
  description: 'How long the attempt of a delivery that is longest due has been due; 0 when none is.',
});
