// The hours of the chart above the list of runs: which it shows, and what its bars count.
import type { components } from '../../api/schema.d.ts';

export type Hour = components['schemas']['RunHours']['hours'][number];
/** A time from `since` until before `until`, in milliseconds since 1970. */
export type Span = { since: number; until: number };
export type Bar = Span & { counts: Omit<Hour, 'hour'>; total: number };

export const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** As many as the service counts at once. */
const HOURS_MAX = 31 * DAY_HOURS;
const BARS_MAX = 96;
const STEPS = [1, 2, 3, 6, 12, 24];

/** The parts of a bar, from its bottom to its top. */
export const PARTS = [
  { id: 'completed', name: 'completed' },
  { id: 'open', name: 'not ended' },
  { id: 'cancelled', name: 'cancelled' },
  { id: 'refused', name: 'refused' },
  { id: 'failed', name: 'failed' },
] as const;

/**
 * Returns the time of the chart for the time of the filter: at least a day, so that a short time is seen among the hours
 * around it, and at most 31 days before its end. `shown`: the time of the chart before, which stays if it has the other.
 */
export function chartSpan(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  now: number,
  shown?: Span,
): Span {
  const end = until === undefined ? now : Math.min(now, Date.parse(until));
  const start = since === undefined ? end - DAY_HOURS * HOUR_MS : Date.parse(since);
  if (until !== undefined && shown && start >= shown.since && end <= shown.until) return shown;
  const missing = Math.max(0, DAY_HOURS * HOUR_MS - (end - start));
  const last = Math.min(now, until === undefined ? end : end + Math.floor(missing / 2));
  const first = Math.max(Math.min(start, last - DAY_HOURS * HOUR_MS), last - HOURS_MAX * HOUR_MS);
  return { since: Math.ceil(first / HOUR_MS) * HOUR_MS, until: Math.ceil(last / HOUR_MS) * HOUR_MS };
}

/** Returns the bars of a time, each of one hour or, of a long time, of several. */
export function toBars({ since, until }: Span, hours: readonly Hour[]): Bar[] {
  const count = Math.ceil((until - since) / HOUR_MS);
  const step = (STEPS.find((hours) => count / hours <= BARS_MAX) ?? DAY_HOURS) * HOUR_MS;
  const bars: Bar[] = [];
  for (let at = since; at < until; at += step)
    bars.push({
      since: at,
      until: Math.min(at + step, until),
      counts: { completed: 0, open: 0, cancelled: 0, refused: 0, failed: 0 },
      total: 0,
    });
  for (const { hour, ...counts } of hours) {
    const bar = bars[Math.floor((Date.parse(hour) - since) / step)];
    if (!bar) continue;
    for (const { id } of PARTS) {
      bar.counts[id] += counts[id];
      bar.total += counts[id];
    }
  }
  return bars;
}

/** Describes what bars count, such as “310 completed, 52 failed”. */
export function describeCounts(counts: Bar['counts'], format: (count: number) => string): string {
  const parts = PARTS.filter(({ id }) => counts[id] > 0).map(
    ({ id, name }) => `${format(counts[id])} ${name}`,
  );
  return parts.length > 0 ? parts.join(', ') : 'no runs';
}
