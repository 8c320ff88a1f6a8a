import { useEffect, useState } from 'react';
import { hasEnded, type TryRun } from './try-run.ts';

/**
 * Returns the id of the run that had not ended when the page was reloaded, until another one starts. The tab's session
 * storage keeps it.
 */
export function useLeftRun(flowId: string, run: TryRun | undefined): string | undefined {
  const key = `weir tried run ${flowId}`;
  const [left, setLeft] = useState(() => sessionStorage.getItem(key) || undefined);
  const begun = run?.executionId;
  const isOver = run !== undefined && hasEnded(run);
  useEffect(() => {
    if (begun === undefined) return;
    setLeft(undefined);
    try {
      sessionStorage.setItem(key, isOver ? '' : begun);
    } catch {
      // The input of the run has filled the storage.
    }
  }, [key, begun, isOver]);
  return left;
}
