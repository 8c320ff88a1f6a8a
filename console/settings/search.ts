// The filters of the settings' lists in the address. Unknown parameters are dropped.

const HOUR_MS = 3_600_000;
const SPANS = { day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS };

type AuditSince = keyof typeof SPANS;

export const SINCE_OPTIONS = [
  { id: 'all', label: 'Any time' },
  { id: 'day', label: 'Last 24 hours' },
  { id: 'week', label: 'Last 7 days' },
  { id: 'month', label: 'Last 30 days' },
] as const;

type Search = Record<string, unknown>;

export function readLedgerSearch({ kind }: Search): { kind?: 'grant' | 'charge' } {
  return kind === 'grant' || kind === 'charge' ? { kind } : {};
}

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

function isAuditSince(value: unknown): value is AuditSince {
  return typeof value === 'string' && Object.hasOwn(SPANS, value);
}

/** Returns the start of a time span, rounded to the hour so that the query stays the same; undefined for any time. */
export function sinceOf(span: AuditSince | undefined, now: number = Date.now()): string | undefined {
  if (span === undefined) return undefined;
  return new Date(Math.floor((now - SPANS[span]) / HOUR_MS) * HOUR_MS).toISOString();
}
