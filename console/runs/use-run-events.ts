import { useEffect, useRef } from 'react';
import { streamEvents } from '../api/stream-events.ts';
import { type RunPath, runUrl } from './run-path.ts';

const RECONNECT_MS = 2_000;
const TELL_AT_MOST_EVERY_MS = 700;

/**
 * Follows the events of a run while it is under way, and says through `onChange` that something has happened, at most
 * every 700 ms. Comes back after an interruption where it left off.
 */
export function useRunEvents(path: RunPath, isRunning: boolean, onChange: () => void): void {
  const tell = useRef(onChange);
  tell.current = onChange;
  const { org, project, flow, executionId } = path;
  useEffect(() => {
    if (!isRunning) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastId: string | undefined;
    function changed() {
      if (stop.signal.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        tell.current();
      }, TELL_AT_MOST_EVERY_MS);
    }
    async function follow() {
      const url = runUrl({ org, project, flow, executionId }, '/events');
      while (!stop.signal.aborted) {
        try {
          const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
          for await (const { id } of streamEvents(url, { headers, signal: stop.signal })) {
            lastId = id ?? lastId;
            changed();
          }
        } catch {
          // The page asks for the run every few seconds as well, and shows what stands in the way.
        }
        changed();
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
      }
    }
    void follow();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [isRunning, org, project, flow, executionId]);
}
