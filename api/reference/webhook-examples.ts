// Example requests and answers of webhook administration in the API reference.
const organizationId = 'b1f2a9c4-51c0-4b1a-9f6e-6a2f3f0e9d11';

export const maskedSecret = {
  organizationId,
  secretPreview: 'whsec_dGhl************',
  version: 2,
  createdAt: '2026-01-31T12:00:00.000Z',
  rotatedAt: '2026-01-31T12:00:00.000Z',
  graceUntil: '2026-02-01T12:00:00.000Z',
};

export const newSecret = {
  organizationId,
  newSecret: 'whsec_dGhlIHJpdmVyIHJ1bnMgb3ZlciB0aGUgd2VpciB0b2RheSE=',
  previousSecretPreview: 'whsec_bWls************',
  version: 2,
  graceUntil: '2026-02-01T12:00:00.000Z',
  rotatedAt: '2026-01-31T12:00:00.000Z',
};

export const delivery = {
  id: '4f9d7f0a-8f52-4c7b-9a6f-3a0f1f6f2c55',
  eventType: 'flow.completed',
  targetUrl: 'https://hooks.example.com/weir',
  status: 'failed_retry',
  attempt: 1,
  responseStatus: 503,
  lastAttemptedAt: '2026-01-31T12:00:00.172Z',
  errorMessage: 'The receiver answered 503.',
  createdAt: '2026-01-31T12:00:00.101Z',
};

export const deliveryPage = {
  deliveries: [delivery],
  hasMore: true,
  nextCursor: '2026-01-31T12:00:00.101000000000042Z',
};

export const detailedDelivery = {
  ...delivery,
  executionId: '6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34',
  nextAttemptAt: '2026-01-31T12:01:00.201Z',
  requestBody:
    '{"event":"flow.completed","executionId":"6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34","result":{"topics":2}}',
  attempts: [
    {
      round: 1,
      attempt: 1,
      startedAt: '2026-01-31T12:00:00.172Z',
      durationMs: 29,
      requestHeaders: {
        'Content-Type': 'application/json',
        'User-Agent': 'Weir-Webhooks/1.0',
        'X-Weir-Event': 'flow.completed',
        'X-Weir-Delivery': delivery.id,
        'X-Weir-Timestamp': '1769860800',
        'X-Weir-Signature':
          't=1769860800,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
        'webhook-id': delivery.id,
        'webhook-timestamp': '1769860800',
        'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      },
      responseStatus: 503,
      responseBody: 'Down for maintenance',
      errorMessage: 'The receiver answered 503.',
    },
  ],
};

export const pendingDelivery = {
  ...delivery,
  status: 'pending',
  attempt: 0,
};

export const testOf = { url: 'https://hooks.example.com/weir', event: 'flow.failed' };

export const recovery = { since: '2026-01-31T00:00:00Z', status: 'dead_letter' };
