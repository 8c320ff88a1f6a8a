import { useEffect } from 'react';
import type { DraftStore } from './draft-store.ts';

const POLL_MS = 4_000;

/** Checks for changes made elsewhere every few seconds while the window is visible, and when it becomes visible. */
export function usePollDraft(store: DraftStore): void {
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === 'visible') void store.refresh();
    };
    const timer = setInterval(refresh, POLL_MS);
    addEventListener('focus', refresh);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', refresh);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [store]);
}
