// Example answers about test runs in the API reference.
const result = {
  test_case_id: '9a4c1a52-6f5f-4b3f-8f0e-3a8b8a3f7f21',
  name: 'answers in French',
  status: 'pending',
  why: null,
  flow_run_id: '5d7a0f0c-3a39-4c61-9a0a-0f8e4f2d8d13',
  judge_run_id: null,
  ms: null,
  cost: 0,
};
const counts = { total: 1, passed: 0, failed: 0, errors: 0, pending: 1, cost: 0 };

export const stoppingTestRun = {
  test_run_id: '2f6f1c1e-0c39-4bd5-8c8c-7b7f0d1f6a55',
  flow_id: '8c1f6a7e-9d0f-4c3e-8a1e-2f8c1c3f7a44',
  status: 'started',
  version: 0,
  ...counts,
  results: [result],
};
export const cancelledTestRun = {
  ...stoppingTestRun,
  status: 'cancelled',
  errors: 1,
  pending: 0,
  results: [{ ...result, status: 'error', why: 'The test run was cancelled.' }],
};

export const newTestCase = {
  name: 'answers in French',
  message: 'What is the capital of France?',
  parameters: { language: 'fr' },
  expectation: { type: 'contains', text: 'Paris' },
};
const at = '2026-01-31T12:00:00.000Z';
const stored = { test_case_id: result.test_case_id, name: newTestCase.name, created_at: at, updated_at: at };
const listed = {
  ...stored,
  message: newTestCase.message,
  expected: JSON.stringify(newTestCase.expectation),
  has_tools: false,
  last_result: {
    test_run_id: stoppingTestRun.test_run_id,
    version: 0,
    flow_run_id: result.flow_run_id,
    status: 'passed',
    why: null,
    tested_at: at,
    ms: 812,
    cost: 0.0034,
  },
};
export const testCase = { ...stored, ...newTestCase };
export const testCasePage = { test_cases: [listed], hasMore: false, nextCursor: null };

const { results: _, ...started } = stoppingTestRun;
export const testRunPage = {
  test_runs: [
    { ...started, started_by: 'auth0|5f7c8ec7c33c6c004bbafe82', started_at: at, finished_at: null },
  ],
  hasMore: false,
  nextCursor: null,
};
