// Example requests and answers of the endpoints for operators in the API reference.
import { newOrganization, organization } from './management-examples.ts';

const key = {
  keyId: '3Fq8ZcWn',
  name: 'Ann’s laptop',
  createdAt: '2026-01-31T12:00:00.000Z',
  lastUsedAt: '2026-02-01T08:30:00.000Z',
  revokedAt: null,
  revokedBy: null,
};
export const operatorKeyPage = { keys: [key], hasMore: false, nextCursor: null };
export const revokedOperatorKey = {
  ...key,
  revokedAt: '2026-02-02T00:00:00.000Z',
  revokedBy: 'operator/9uTw2bXe',
};

const { role: _, ...described } = organization;
export const operatedOrganization = {
  ...described,
  runsUnderWay: 12,
  runsUnderWayMax: null,
  suspendedAt: null,
  suspensionReason: null,
};
export const operatedOrganizationPage = {
  organizations: [operatedOrganization],
  hasMore: false,
  nextCursor: null,
};
export const organizationForSomebody = { ...newOrganization, owner: 'auth0|5f7c8ec7c33c6c004bbafe82' };
export const quota = { runs_under_way_max: 50 };
export const suspension = { reason: 'Unpaid invoice' };
export const ownerRole = { role: 'owner' };
export const testRunFilter = { organization: 'acme' };
export const cancelledTestRuns = {
  cancelled: ['0197f3a1-4b5c-7d6e-8f90-a1b2c3d4e5f6'],
  hasMore: false,
};
export const stuckRuns = {
  runs: [
    {
      executionId: '0197f3a1-4b5c-7d6e-8f90-a1b2c3d4e5f7',
      flow: 'acme/support/summarize',
      reason: 'retrying',
      since: '2026-01-31T12:00:00.000Z',
      lastError: 'summarize, attempt 4: the model did not answer in time',
    },
  ],
  missing: null,
};
