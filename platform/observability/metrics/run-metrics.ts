// Metrics of runs: starts, blocks, credits, model calls and webhook deliveries.
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

const MODEL = ['gen_ai.provider.name', 'gen_ai.request.model'] as const;

export const modelCallDuration = histogram({
  name: 'gen_ai.client.operation.duration',
  unit: 's',
  description: 'Time that a request to a model took.',
  labels: ['gen_ai.operation.name', ...MODEL, 'weir.model.key', 'error.type'],
  buckets: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84],
});

export const oldestModelCall = gauge({
  name: 'weir.model.oldest_call_age',
  unit: 's',
  description: 'How long the oldest request of this process to a provider has been under way; 0 without one.',
  labels: ['gen_ai.provider.name'],
});

export const modelTokens = histogram({
  name: 'gen_ai.client.token.usage',
  unit: '{token}',
  description: 'Tokens of a prompt or an answer.',
  labels: ['gen_ai.operation.name', ...MODEL, 'gen_ai.token.type'],
  buckets: [1, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576],
});

const PARTS = { unit: '{token}', labels: ['gen_ai.operation.name', ...MODEL] } as const;

export const cachedTokens = counter({
  ...PARTS,
  name: 'gen_ai.client.inference.usage.cache_read.input_tokens',
  description: 'Tokens of prompts that a cache of the provider had.',
});

export const cacheWriteTokens = counter({
  ...PARTS,
  name: 'gen_ai.client.inference.usage.cache_write.input_tokens',
  description: 'Tokens of prompts that a cache of the provider took.',
});

export const reasoningTokens = counter({
  ...PARTS,
  name: 'gen_ai.client.inference.usage.reasoning.output_tokens',
  description: 'Tokens of answers that are reasoning.',
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

const MODES = ['execute', 'jobs', 'step', 'test'];
/** The codes of failures for the operator's reasons, at which an alert looks. */
const OWN_FAILURES = ['INTERNAL_ERROR', 'MODEL_KEY_REJECTED'];
const DURATIONS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

export const runStarts = counter({
  name: 'weir.run.starts',
  unit: '{call}',
  description: 'Calls that were accepted: new runs, and calls that go on with a run.',
  labels: ['mode', 'environment', 'kind'],
  zeros: MODES.map((mode) => ({ mode, environment: 'live', kind: 'new' })),
});

export const runDuration = histogram({
  name: 'weir.run.duration',
  unit: 's',
  description: 'Time from the acceptance of a call to its recorded end or pause.',
  labels: ['mode', 'outcome'],
  buckets: DURATIONS,
});

export const runFailures = counter({
  name: 'weir.run.failures',
  unit: '{call}',
  description: 'Calls that ended as failed, by error code.',
  labels: ['mode', 'error.type'],
  zeros: MODES.flatMap((mode) => OWN_FAILURES.map((code) => ({ mode, 'error.type': code }))),
});

export const timeToFirstBlock = histogram({
  name: 'weir.run.time_to_first_block',
  unit: 's',
  description: 'Time from the acceptance of a call to the start of its first block.',
  labels: ['mode'],
  buckets: DURATIONS,
});

export const blockDuration = histogram({
  name: 'weir.block.duration',
  unit: 's',
  description: 'Time that a block execution took, as recorded.',
  labels: ['type', 'outcome'],
  buckets: DURATIONS,
});

export const blockFailures = counter({
  name: 'weir.block.failures',
  unit: '{block}',
  description: 'Block executions that failed, by error code.',
  labels: ['type', 'error.type'],
});

export const valuesKept = counter({
  name: 'weir.object_store.fallbacks',
  unit: '{value}',
  description:
    'Large requests and outputs that were kept in PostgreSQL because the object store did not take them.',
  zeros: [{}],
});

export const creditsCharged = counter({
  name: 'weir.credits.charged',
  unit: '{credit}',
  description: 'Credits charged for block executions.',
  labels: ['type'],
  zeros: [{ type: 'llm' }, { type: 'code' }],
});

export const creditsUncharged = counter({
  name: 'weir.credits.uncharged',
  unit: '{credit}',
  description:
    'Cost of block executions beyond the balance or the maximum of the run, which the operator bears.',
  labels: ['type'],
  zeros: [{ type: 'llm' }, { type: 'code' }],
});

export const creditsReserved = gauge({
  name: 'weir.credits.reserved',
  unit: '{credit}',
  description: 'Credits that are reserved for blocks and runs under way.',
});

export const creditsRefused = counter({
  name: 'weir.credits.refusals',
  unit: '{refusal}',
  description: 'Runs and blocks that were refused for want of credits.',
  labels: ['reason'],
  zeros: [{ reason: 'balance' }, { reason: 'maximum' }],
});
