import { useEffect, useState } from 'react';
import { hasEnded, type TryRun } from './try-run.ts';

/**
 * Returns the id of the run that had not ended when the page was reloaded, until another one starts. The tab's session
 * storage keeps it.
 */
export function useUnfinishedRun(flowId: string, run: TryRun | undefined): string | undefined {
  const key = `weir tried run ${flowId}`;
  const [unfinished, setUnfinished] = useState(() => sessionStorage.getItem(key) || undefined);
  const startedId = run?.executionId;
  const isOver = run !== undefined && hasEnded(run);
  useEffect(() => {
    if (startedId === undefined) return;
    setUnfinished(undefined);
    try {
      sessionStorage.setItem(key, isOver ? '' : startedId);
    } catch {
      // The input of the run has filled the storage.
    }
  }, [key, startedId, isOver]);
  return unfinished;
}
