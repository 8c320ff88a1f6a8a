import { useSyncExternalStore } from 'react';

/** The colour themes. The choice is kept in this browser. */
export const THEMES = [
  { id: 'system', label: 'Colours of the system' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const;
type Theme = (typeof THEMES)[number]['id'];

const KEY = 'weir.theme';
const listeners = new Set<() => void>();

/** Returns the chosen theme. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme);
}

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
