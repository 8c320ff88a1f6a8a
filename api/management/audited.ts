import { inTransaction, type Tx } from '../../db/connect.ts';
import { repeatLostWrite } from '../../db/connection/repeat-lost-write.ts';
import { insertAuditEntry, type NewAuditEntry } from '../../db/tenants/audit-entries.ts';
import { lockOrganization } from '../../db/tenants/organizations.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiState } from '../http/context.ts';
import type { Principal } from '../http/principal.ts';

/** Records one change; `action` reads `resource.verb`. */
export type Recorder = (entry: Omit<NewAuditEntry, 'actor' | 'requestId'>) => Promise<void>;

type Write<T> = (tx: Tx, record: Recorder) => Promise<T>;

/**
 * Does a management write, once, in a transaction in which `record` notes it for the audit log: both or neither, and
 * only if what its caller was let in by still holds then, which stays so until it is done.
 */
export function audited<T>(deps: Pick<ApiDeps, 'db'>, ctx: Pick<ApiContext, 'state'>, write: Write<T>) {
  return writeAudited(deps, ctx, write);
}

/** The same through a connection that is lost: `write` must come to the same, with one entry, when it is repeated. */
export function auditedThroughOutage<T>(
  deps: Pick<ApiDeps, 'db'>,
  ctx: Pick<ApiContext, 'state'>,
  write: Write<T>,
) {
  return repeatLostWrite(() => writeAudited(deps, ctx, write));
}

function writeAudited<T>(
  { db }: Pick<ApiDeps, 'db'>,
  { state }: Pick<ApiContext, 'state'>,
  write: Write<T>,
): Promise<T> {
  return inTransaction(db, async (tx) => {
    if (state.authorizeAgain) {
      await lockOrganization(tx, state.membership.organizationId);
      await state.authorizeAgain(tx);
    }
    return write(tx, recorder(tx, state));
  });
}

function recorder(tx: Tx, state: ApiState): Recorder {
  const { requestId } = state;
  const actor = actorOf(state.principal);
  return (entry) => insertAuditEntry(tx, { ...entry, actor, requestId });
}

/** Who did something, as the audit log names them. */
export function actorOf(principal: Principal): string {
  return principal.kind === 'user' ? principal.userId : `api_key/${principal.key.key_id}`;
}
