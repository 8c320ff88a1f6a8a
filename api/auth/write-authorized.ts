import { type Db, inTransaction, type Tx } from '../../db/connect.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import { lockOrganization } from '../../db/tenants/organizations.ts';
import type { ApiState, CallerMembership } from '../http/context.ts';
import { authorOf } from '../http/principal.ts';

type CallerState = Pick<ApiState, 'principal' | 'requestId' | 'membership' | 'authorizeAgain'>;
type Write<T> = (tx: Tx, author: Author, membership: CallerMembership) => Promise<T>;

/**
 * Writes in one transaction, which first authorizes the caller again and locks the organization, so that the caller's
 * rights hold until the commit. The write records itself under `author` (`recordChange`).
 */
export function writeAuthorized<T>(db: Db, caller: CallerState, write: Write<T>): Promise<T> {
  return inTransaction(db, async (tx) => {
    let { membership } = caller;
    if (caller.authorizeAgain) {
      await lockOrganization(tx, membership.organizationId);
      membership = await caller.authorizeAgain(tx);
    }
    return write(tx, authorOf(caller.principal, caller.requestId), membership);
  });
}
