import { useEffect, useState } from 'react';
import { formatDuration } from '../ui/format.ts';

const ELAPSED_TICK_MS = 1_000;

/** Shows the time since `from`, counting on. */
export function Elapsed({ from }: { from: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), ELAPSED_TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{formatDuration(Math.max(0, now - Date.parse(from)))}</>;
}
