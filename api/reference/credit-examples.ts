// Example requests and answers about credits in the API reference.
const organizationId = '7d0b4c36-9d0f-4c3e-8a1e-2f8c1c3f7a10';

export const credits = { organizationId, balance: 874.25, reserved: 1.5, lowBalanceMark: 100, low: false };
export const mark = { low_balance_mark: 100 };

const key = 'invoice-2026-01';
export const newGrant = { credits: 1000 };
export const grant = { organizationId, ...newGrant, key, balance: 1874.25 };

export const ledgerPage = {
  entries: [
    {
      id: '8127',
      at: '2026-01-31T12:00:02.345Z',
      kind: 'charge',
      credits: -0.0675,
      executionId: '0b9a3c1e-52b4-4a38-9e06-0d2f4b8c6a71',
      block: 'summarize',
      key: null,
      model: 'openai/gpt-5-mini',
      tokens: {
        promptTokens: 10_000,
        cachedTokens: 9_000,
        cacheWriteTokens: 0,
        completionTokens: 100,
        reasoningTokens: 64,
      },
    },
    {
      id: '8040',
      at: '2026-01-31T12:00:00.000Z',
      kind: 'grant',
      credits: 1000,
      executionId: null,
      block: null,
      key,
      model: null,
      tokens: null,
    },
  ],
  hasMore: true,
  nextCursor: '8040',
};

const total = {
  credits: 812.4036,
  modelCalls: 20_410,
  failedModelCalls: 31,
  promptTokens: 18_225_110,
  cachedTokens: 9_120_400,
  cacheWriteTokens: 0,
  completionTokens: 2_903_004,
  reasoningTokens: 1_010_233,
  modelLatencyMs: { p50: 741, p95: 2755, p99: 6850 },
  runs: 10_180,
  failedRuns: 44,
  cancelledRuns: 3,
  refusedRuns: 5,
  runLatencyMs: { p50: 1538, p95: 5709, p99: 14_203 },
  refused: 12,
};
export const usage = {
  from: '2026-01-01',
  to: '2026-01-31',
  by: 'flow',
  total,
  entries: [{ flowId: '9f0d8b6e-30c5-4a5f-8f4b-2f1f6f0f7c55', name: 'summarize', ...total, refused: null }],
  hasMore: false,
  nextCursor: null,
};
