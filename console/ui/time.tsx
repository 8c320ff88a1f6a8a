import { useEffect, useState } from 'react';
import { formatDuration } from './format.ts';

const ELAPSED_TICK_MS = 1_000;

const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['second', 60],
  ['minute', 3600],
  ['hour', 86_400],
  ['day', 7 * 86_400],
];
const PER: Record<string, number> = { second: 1, minute: 60, hour: 3600, day: 86_400 };
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const REFRESH_MS = 20_000;
const TICK_MS = 1_000;
const YOUNG_MS = 60_000;

/** A time (ISO 8601) relative to now; the exact local time shows on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  const [, refresh] = useState(0);
  // Set anew after each render: young times are updated every second.
  useEffect(() => {
    const isYoung = at && Math.abs(Date.now() - Date.parse(at)) < YOUNG_MS;
    const timer = setTimeout(() => refresh((count) => count + 1), isYoung ? TICK_MS : REFRESH_MS);
    return () => clearTimeout(timer);
  });
  if (!at) return <>—</>;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exact.format(moment)}>
      {describe(moment)}
    </time>
  );
}

function describe(moment: Date): string {
  const seconds = Math.round((moment.getTime() - Date.now()) / 1000);
  if (Math.abs(seconds) < 5) return 'just now';
  for (const [unit, below] of UNITS)
    if (Math.abs(seconds) < below) return relative.format(Math.trunc(seconds / (PER[unit] ?? 1)), unit);
  return date.format(moment);
}

/** Shows the time since `from`, counting on. */
export function Elapsed({ from }: { from: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), ELAPSED_TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{formatDuration(Math.max(0, now - Date.parse(from)))}</>;
}
