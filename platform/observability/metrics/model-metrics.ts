import { counter, histogram } from './instruments.ts';

const MODEL = ['gen_ai.provider.name', 'gen_ai.request.model'] as const;

export const modelCallDuration = histogram({
  name: 'gen_ai.client.operation.duration',
  unit: 's',
  description: 'Time that a request to a model took.',
  labels: ['gen_ai.operation.name', ...MODEL, 'weir.model.key', 'error.type'],
  buckets: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84],
});

export const modelTokens = histogram({
  name: 'gen_ai.client.token.usage',
  unit: '{token}',
  description: 'Tokens of a prompt or an answer.',
  labels: ['gen_ai.operation.name', ...MODEL, 'gen_ai.token.type'],
  buckets: [1, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576],
});

export const modelCost = counter({
  name: 'weir.model.cost',
  unit: '{credit}',
  description: 'Credits that answers of models cost, at the prices of the model list.',
  labels: MODEL,
});

export const modelRetries = counter({
  name: 'weir.model.retries',
  unit: '{request}',
  description: 'Requests to models that repeat one that failed or was lost.',
  labels: MODEL,
});
