import { useEffect, useState } from 'react';

/**
 * Gives the focus back to what had it when the component was first shown, once the component is gone. For a dialog whose
 * place another one takes: the second finds nothing to give the focus back to. When the opener is gone, `<main>` gets it.
 */
export function useReturnFocus(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    const restore = () => {
      if (document.activeElement !== document.body) return;
      if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) opener.focus();
      else document.getElementById('main')?.focus();
    };
    // A dialog that closes moves the focus in the next frame.
    return () => void requestAnimationFrame(() => requestAnimationFrame(restore));
  }, [opener]);
}

/** As `useReturnFocus`, for a part that is shown and gone within a component that stays, such as the inside of a dialog. */
export function ReturnFocus(): null {
  useReturnFocus();
  return null;
}
