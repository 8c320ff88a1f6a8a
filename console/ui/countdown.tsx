import { useEffect, useState } from 'react';
import { formatDuration } from './format.ts';

const TICK_MS = 1_000;

/** Counts down to a time (ISO 8601); shows `past` afterwards. */
export function Countdown({ until, past }: { until: string; past: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const left = new Date(until).getTime() - now;
  if (left <= 0) return <>{past}</>;
  return (
    <time dateTime={until} title={new Date(until).toLocaleString()}>
      {left < 60_000 ? `${Math.ceil(left / 1_000)} s` : formatDuration(Math.floor(left / 1_000) * 1_000)}
    </time>
  );
}
