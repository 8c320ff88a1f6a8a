// Example requests and answers of runs in the API reference: they are about the demo flow of a local start.
import { balanceTooLow } from '../../db/credits/reservations.ts';

const executionId = '6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34';
const flow = { flowId: '0e9a4a0e-5a5b-4c39-8a44-8d5f6d1f7b21', blockCount: 5 };
const result = {
  topics: 2,
  sentences: ['rivers meet weirs', 'dams meet weirs'],
  summary: 'Demo answer to: Sum up what was said about: rivers, dams',
};

export const runRequest = { message: 'rivers, dams' };

export const imageRequest = {
  message: 'What is in the picture?',
  attachments: [
    {
      kind: 'url',
      url: 'https://images.example/weir.png',
      mime_type: 'image/png',
      filename: 'weir.png',
    },
  ],
};

export const overridingRequest = {
  ...runRequest,
  parameters: { language: 'fr' },
  maxCredits: 5,
  block_overrides: {
    'sum-up': { prompt: 'In {{parameters.language}}: {{message}}', processor_config: { temperature: 0 } },
  },
};

const NO_TOKENS = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

const blocks = [
  {
    step_id: 'topics',
    key: 'topics',
    name: 'Split the message into topics',
    processor_type: 'code',
    status: 'completed',
    attempts: 1,
    model: null,
    usage: { ...NO_TOKENS, cost: 0, ms: 4 },
  },
  {
    step_id: 'sentence',
    key: 'sentence#0',
    name: 'Write a sentence',
    processor_type: 'llm',
    status: 'completed',
    attempts: 1,
    model: 'demo/chat',
    usage: { ...NO_TOKENS, promptTokens: 16, completionTokens: 9, cost: 0.0034, ms: 12 },
  },
];

const [, sentence] = blocks;
const traced = {
  ...sentence,
  iterations: [0],
  callId: executionId,
  startedAt: '2026-01-31T12:00:00.010Z',
  finishedAt: '2026-01-31T12:00:00.022Z',
};
export const blockPage = {
  blocks: [traced],
  hasMore: true,
  nextCursor: `${executionId}:sentence#0`,
};
export const sentExample = {
  model: 'demo/chat',
  messages: [{ role: 'user', content: 'Write a sentence about rivers.' }],
};
export const blockExample = {
  ...traced,
  input: 'rivers',
  inputBytes: 8,
  sent: sentExample,
  sentBytes: 97,
  output: 'rivers meet weirs',
  outputBytes: 19,
};
export const outputUrlExample = {
  url: 'https://weir-outputs.s3.eu-central-1.amazonaws.com/runs/0198-4f2e?X-Amz-Expires=300&X-Amz-Signature=5d3a4f2e7f10',
  expiresAt: '2026-01-01T00:05:00.000Z',
  outputBytes: 5_242_880,
};

const cost = 0.0034;

export const callbackRequest = {
  ...runRequest,
  callbackUrl: 'https://hooks.example.com/weir',
  callbackEvents: ['flow.failed'],
};

export const completed = { executionId, status: 'completed', result, ...flow, cost, blocks };

const NO_CREDITS = balanceTooLow(200_000, 820_800).message;

export const failed = {
  executionId,
  status: 'failed',
  result: null,
  code: 'INSUFFICIENT_CREDITS',
  step_id: 'sum-up',
  errorMessage: `Block "Sum up" (sum-up): ${NO_CREDITS}`,
  failureReason: 'credits_exhausted',
  ...flow,
  cost,
  blocks: [
    ...blocks,
    {
      step_id: 'sum-up',
      key: 'sum-up',
      name: 'Sum up',
      processor_type: 'llm',
      status: 'failed',
      attempts: 1,
      model: 'demo/chat',
      code: 'INSUFFICIENT_CREDITS',
      errorMessage: NO_CREDITS,
      usage: { ...NO_TOKENS, cost: 0, ms: 3 },
    },
  ],
};

export const accepted = { executionId, status: 'started', ...flow };

const repeatedId = '0d0f6a5e-6f0b-4a43-8f6c-3f3a1f0f8a11';
const repetition = {
  repeats: executionId,
  version: 2,
  beginsAt: { step_id: 'sum-up', reason: 'The run has not completed this step.' },
};
export const repeatedRun = { ...accepted, executionId: repeatedId, ...repetition };

const times = {
  version: 1,
  mode: 'jobs',
  environment: 'live',
  keyId: 'k3J9xQ2a',
  startedBy: null,
  repeats: null,
  repeatedBy: null,
  bulk_id: null,
  startedAt: '2026-01-31T12:00:00.000Z',
  finishedAt: null,
  durationMs: null,
};
export const startedState = { executionId, status: 'started', ...flow, ...times, cost };

export const endedState = {
  ...startedState,
  status: 'completed',
  finishedAt: '2026-01-31T12:00:00.172Z',
  durationMs: 172,
};

export const underWay = { ...startedState, blocksUnderWay: [], blocks };

export const ended = { ...endedState, result, deliveries: [], blocks };

export const runPage = { runs: [endedState], hasMore: true, nextCursor: executionId };

const { blockCount: _, ...listed } = endedState;
export const listedRunPage = {
  runs: [{ ...listed, organization: 'demo', project: 'demo', flow: 'demo' }],
  hasMore: true,
  nextCursor: executionId,
};

export const runErrors = {
  errors: [
    {
      error_group: '4f0c2b9d1e7a',
      flow: 'demo',
      code: 'MODEL_UNAVAILABLE',
      step_id: 'summarize',
      block: 'Summarize',
      errorMessage: 'Block "Summarize" (summarize): the model demo/chat has not answered for 60 s.',
      count: 52,
      firstSeen: '2026-01-31T12:00:03.120Z',
      lastSeen: '2026-01-31T14:41:27.004Z',
      executionId,
    },
  ],
  hasMore: false,
};

export const runHours = {
  since: '2026-01-30T15:00:00.000Z',
  until: '2026-01-31T15:00:00.000Z',
  hours: [
    { hour: '2026-01-31T14:00:00.000Z', completed: 310, failed: 52, cancelled: 1, refused: 0, open: 2 },
  ],
};

export const retryFilter = { flow: 'demo', since: '2026-01-31T00:00:00Z', on_version: 'production' };
const bulkId = '0199b0a0-6c1e-7b43-9f6c-3f3a1f0f8a11';
export const retriedRuns = {
  bulk_id: bulkId,
  retried: [{ executionId: repeatedId, ...repetition }],
  refused: [],
  stoppedBy: null,
  hasMore: false,
  nextCursor: null,
};

export const bulkRetry = {
  bulk_id: bulkId,
  startedBy: 'api_key/k3J9xQ2a',
  startedAt: '2026-01-31T12:00:00.000Z',
  filter: retryFilter,
  planned: 52,
  refused: 1,
  started: 51,
  running: 8,
  outcomes: { completed: 40, failed: 3, cancelled: 0, refused: 0 },
  stoppedBy: null,
  nextCursor: null,
  cancelledBy: null,
  cancelledAt: null,
};

export const bulkCancelFilter = { flow: 'demo', status: 'started' };
export const bulkCancelled = { cancelled: [executionId], hasMore: false, nextCursor: null };

export const cursor = {
  executionId: null,
  version: 1,
  stepIndex: 1,
  accumulatedOutputs: { topics: ['rivers', 'dams'] },
  message: 'rivers, dams',
  parameters: {},
};

export const flowOfRun = {
  flowId: flow.flowId,
  version: 1,
  steps: [
    {
      type: 'sequential',
      step_id: 'sum-up',
      name: 'Sum up',
      processor_type: 'llm',
      model: 'demo/chat',
      prompt: 'Sum up what was said about: {{message}}',
    },
  ],
};

export const requestOfRun = {
  message: runRequest.message,
  parameters: { language: 'fr' },
  block_overrides: overridingRequest.block_overrides,
  tools: [],
  bytes: { message: 14, parameters: 17, block_overrides: 98, tools: 2 },
  attachments: [],
  maxCredits: 5,
  toolChoice: null,
  requestId: '1d9cbb4e-9d6c-4e3b-b1c8-5d3a4f2e7f10',
  callbackUrl: callbackRequest.callbackUrl,
  callbackEvents: callbackRequest.callbackEvents,
  modelKeyProviders: [],
};

export const firstStepRequest = { executionId: null, stepIndex: 0, message: 'rivers, dams' };

export const nextStepRequest = {
  executionId,
  stepIndex: 1,
  accumulatedOutputs: { topics: ['rivers', 'dams'] },
  inputOverrides: { topics: ['rivers'] },
  runRemaining: true,
};
