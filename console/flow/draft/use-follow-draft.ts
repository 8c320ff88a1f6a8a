import { useEffect } from 'react';
import type { DraftStore } from './draft-store.ts';

const LOOK_MS = 4_000;

/** Checks for changes made elsewhere every few seconds while the window is visible, and when it becomes visible. */
export function useFollowDraft(store: DraftStore): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') void store.refresh();
    };
    const timer = setInterval(look, LOOK_MS);
    addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', look);
      document.removeEventListener('visibilitychange', look);
    };
  }, [store]);
}
