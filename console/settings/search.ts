// The filters of the settings' lists, as they stand in the address; what is not one of them is left out.
import { type AuditSince, isAuditSince } from './audit-since.ts';

type Search = Record<string, unknown>;

/** The filter of the ledger. */
export function readLedgerSearch({ kind }: Search): { kind?: 'grant' | 'charge' } {
  return kind === 'grant' || kind === 'charge' ? { kind } : {};
}

/** The filters of the audit log. */
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
