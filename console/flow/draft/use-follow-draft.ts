import { useEffect } from 'react';
import type { DraftStore } from './draft-store.ts';

const LOOK_MS = 4_000;

/** Asks, while the window is visible, whether the draft was changed elsewhere, every few seconds and when it comes back. */
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
