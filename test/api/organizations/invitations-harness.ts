// An organization that invites people, who sign in with addresses of their own.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { findRole } from '../../../db/tenants/memberships.ts';
import { useManagement } from './management-harness.ts';

/** Registers the hooks of the enclosing `describe`. */
export function useInvitations() {
  const { management, call } = useManagement();
  const path = () => `/organizations/${management.acme.organizationId}/invitations`;
  const addressOf = () => `${randomUUID()}@example.com`;
  const invite = async (email: string, role = 'member') => {
    const answer = await call('POST', path(), { email, role });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  /** A user who never was here, with a token that has these claims. */
  const person = async (claims: Record<string, unknown>) => {
    const userId = randomUUID();
    return { userId, key: await management.provider.token(userId, claims) };
  };
  const verified = (email: string) => person({ email, email_verified: true });
  const accept = (id: string, key: string) => call('POST', `/invitations/${id}/accept`, undefined, key);
  const roleOf = (userId: string) => findRole(management.weir.db, management.acme.organizationId, userId);
  const auditOf = async (actor: string) => {
    const log = await call('GET', `/organizations/${management.acme.organizationId}/audit-log`);
    return log.body.entries
      .filter((entry: { actor: string }) => entry.actor === actor)
      .map(({ action, resourceId, details }: { [field: string]: unknown }) => ({
        action,
        resourceId,
        details,
      }));
  };
  return { management, call, path, addressOf, invite, person, verified, accept, roleOf, auditOf };
}
