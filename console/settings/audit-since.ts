const HOUR_MS = 3_600_000;
const SPANS = { day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS };

export type AuditSince = keyof typeof SPANS;

export const SINCE_OPTIONS = [
  { id: 'all', label: 'Any time' },
  { id: 'day', label: 'Last 24 hours' },
  { id: 'week', label: 'Last 7 days' },
  { id: 'month', label: 'Last 30 days' },
] as const;

/** Whether a value is one of the time spans. */
export function isAuditSince(value: unknown): value is AuditSince {
  return typeof value === 'string' && Object.hasOwn(SPANS, value);
}

/** Returns the start of a time span, rounded to the hour so that the query stays the same; undefined for any time. */
export function sinceOf(span: AuditSince | undefined, now: number = Date.now()): string | undefined {
  if (span === undefined) return undefined;
  return new Date(Math.floor((now - SPANS[span]) / HOUR_MS) * HOUR_MS).toISOString();
}
