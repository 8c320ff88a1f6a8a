import { useEffect, useRef } from 'react';
import { followStream } from '../api/follow-stream.ts';
import { type RunPath, runUrl } from './run-path.ts';

const CHANGE_INTERVAL_MS = 700;

/**
 * Follows the events of a run while it is running, and calls `onChange` at most every 700 ms. Reconnects after an
 * interruption, but not after a refusal.
 */
export function useRunEvents(path: RunPath, isRunning: boolean, onChange: () => void): void {
  const onChangeRef = useRef(onChange);
  onChangeRef.current = onChange;
  const { org, project, flow, executionId } = path;
  useEffect(() => {
    if (!isRunning) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    function changed() {
      if (stop.signal.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        onChangeRef.current();
      }, CHANGE_INTERVAL_MS);
    }
    const url = runUrl({ org, project, flow, executionId }, '/events');
    const onInterrupted = async () => {
      changed();
      return false;
    };
    followStream(url, {}, { isLast: () => false, onEvent: changed, onInterrupted, signal: stop.signal })
      // The page also polls the run, and shows its errors.
      .catch(changed);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [isRunning, org, project, flow, executionId]);
}
