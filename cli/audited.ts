// What operators change is in the audit log of its organization too.
import { randomUUID } from 'node:crypto';
import type { Recorder } from '../api/management/audited.ts';
import type { Db, Tx } from '../db/connect.ts';
import { insertAuditEntry } from '../db/tenants/audit-entries.ts';

/** As `audited` of the API: does `work` in one transaction with what it records, as done by `operator`. */
export function audited<T>(db: Db, work: (tx: Tx, record: Recorder) => Promise<T>): Promise<T> {
  const who = { actor: 'operator', requestId: randomUUID() };
  return db.transaction().execute((tx) => work(tx, (entry) => insertAuditEntry(tx, { ...entry, ...who })));
}
