import { useSyncExternalStore } from 'react';

/** Whether the window is at most so many pixels wide, for layouts that CSS alone cannot change. */
export function useNarrow(px: number): boolean {
  const query = matchMedia(`(max-width: ${px}px)`);
  return useSyncExternalStore(
    (changed) => {
      query.addEventListener('change', changed);
      return () => query.removeEventListener('change', changed);
    },
    () => query.matches,
  );
}
