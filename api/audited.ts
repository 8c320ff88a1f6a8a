import { insertAuditEntry, type NewAuditEntry } from '../db/audit-entries.ts';
import type { Tx } from '../db/connect.ts';
import { unlessOutage } from '../db/through-outage.ts';
import type { ApiContext, ApiDeps } from './context.ts';
import type { Principal } from './principal.ts';

/** Records one change; `action` reads `resource.verb`. */
export type Recorder = (entry: Omit<NewAuditEntry, 'actor' | 'requestId'>) => Promise<void>;

/** Does a management write in a transaction in which `record` notes it for the audit log: both or neither. */
export function audited<T>(
  { db }: Pick<ApiDeps, 'db'>,
  { state }: Pick<ApiContext, 'state'>,
  work: (tx: Tx, record: Recorder) => Promise<T>,
): Promise<T> {
  return unlessOutage(() => db.transaction().execute((tx) => work(tx, recorder(tx, { state }))));
}

/** For a write that has a transaction of its own. */
export function recorder(tx: Tx, { state }: Pick<ApiContext, 'state'>): Recorder {
  const { requestId } = state;
  const actor = actorOf(state.principal);
  return (entry) => insertAuditEntry(tx, { ...entry, actor, requestId });
}

function actorOf(principal: Principal): string {
  return principal.kind === 'user' ? principal.userId : `api_key/${principal.key.key_id}`;
}
