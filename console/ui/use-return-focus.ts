import { useEffect, useLayoutEffect, useState } from 'react';

/**
 * Returns the focus to the element that had it when the component was mounted, once the component is gone and the focus
 * with it. It serves dialogs that replace one another, where React Aria finds no element to return to. `<main>` gets
 * the focus when that element is gone or cannot take it, or with `to`. The page does not scroll.
 */
export function useReturnFocus(to?: 'main'): void {
  const [opener] = useState(() => (to === 'main' ? null : document.activeElement));
  const [last] = useState<{ focused: Element | null }>({ focused: null });
  // Runs before the component is removed.
  useLayoutEffect(
    () => () => {
      last.focused = document.activeElement;
    },
    [last],
  );
  useEffect(() => {
    const restore = () => {
      if (isNone(last.focused) || !isNone(document.activeElement)) return;
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
      if (isNone(document.activeElement)) document.getElementById('main')?.focus({ preventScroll: true });
    };
    // A closing dialog moves the focus in the next frame.
    return () => void requestAnimationFrame(() => requestAnimationFrame(restore));
  }, [opener, last]);
}

function isNone(focused: Element | null): boolean {
  return focused === null || focused === document.body;
}

/** Calls `useReturnFocus` for a part of a component, such as the inside of a dialog. */
export function ReturnFocus({ to }: { to?: 'main' }): null {
  useReturnFocus(to);
  return null;
}
