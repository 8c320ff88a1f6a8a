// The filters of the settings' lists in the address. Unknown parameters are dropped.
import { type AuditSince, isAuditSince } from './audit-since.ts';

type Search = Record<string, unknown>;

/** Reads the filter of the ledger. */
export function readLedgerSearch({ kind }: Search): { kind?: 'grant' | 'charge' } {
  return kind === 'grant' || kind === 'charge' ? { kind } : {};
}

/** Reads the filters of the audit log. */
export function readAuditSearch({ actor, action, since }: Search): {
  actor?: string | undefined;
  action?: string | undefined;
  since?: AuditSince | undefined;
} {
  return {
    ...(typeof actor === 'string' && { actor }),
    ...(typeof action === 'string' && { action }),
    ...(isAuditSince(since) && { since }),
  };
}
