import assert from 'node:assert/strict';
import { formatDelivery } from '../../../cli/terminal/tables.ts';

describe('A delivery that is shown', () => {
  for (const [when, nextAttemptAt, told] of [
    ['that is still to come', '9999-01-31T12:00:00.000Z', 'next attempt 9999-01-31 12:00:00Z'],
    ['that is overdue', '2026-01-31T12:00:00.000Z', 'next attempt due since 2026-01-31 12:00:00Z'],
  ] as const)
    it(`says when an attempt ${when} is or was due`, () => {
      const delivery = {
        id: '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11',
        eventType: 'flow.completed',
        status: 'failed_retry',
        targetUrl: 'https://example.com',
        createdAt: '2026-01-31T11:59:00.000Z',
        nextAttemptAt,
        executionId: null,
        errorMessage: null,
        requestBody: null,
        attempts: [],
      } as unknown as Parameters<typeof formatDelivery>[0];
      const [, status] = formatDelivery(delivery).split('\n');
      assert.equal(status, `failed_retry, created 2026-01-31 11:59:00Z, ${told}`);
    });
});
