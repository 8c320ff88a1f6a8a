import { useEffect, useState } from 'react';

/** Returns a text once it has been the same for `ms`. */
export function useDebounced(text: string, ms: number): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), ms);
    return () => clearTimeout(timer);
  }, [text, ms]);
  return debounced;
}
