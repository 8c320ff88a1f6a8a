import { useEffect, useLayoutEffect, useState } from 'react';

/**
 * Gives the focus back to what had it when the component was first shown, once the component is gone and the focus with it.
 * For a dialog whose place another one takes: the second finds nothing to give the focus back to. When the opener is gone,
 * or cannot have it, or the focus is to go `to` it, `<main>` gets it. The page does not scroll.
 */
export function useReturnFocus(to?: 'main'): void {
  const [opener] = useState(() => (to === 'main' ? null : document.activeElement));
  const [last] = useState<{ focused: Element | null }>({ focused: null });
  // Runs before the component is taken out of the page.
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
    // A dialog that closes moves the focus in the next frame.
    return () => void requestAnimationFrame(() => requestAnimationFrame(restore));
  }, [opener, last]);
}

function isNone(focused: Element | null): boolean {
  return focused === null || focused === document.body;
}

/** As `useReturnFocus`, for a part that is shown and gone within a component that stays, such as the inside of a dialog. */
export function ReturnFocus({ to }: { to?: 'main' }): null {
  useReturnFocus(to);
  return null;
}
