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
      credits: -0.0421,
      executionId: '0b9a3c1e-52b4-4a38-9e06-0d2f4b8c6a71',
      block: 'summarize',
      key: null,
    },
    {
      id: '8040',
      at: '2026-01-31T12:00:00.000Z',
      kind: 'grant',
      credits: 1000,
      executionId: null,
      block: null,
      key,
    },
  ],
  hasMore: true,
  nextCursor: '8040',
};
