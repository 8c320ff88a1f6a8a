import { useEffect } from 'react';

/**
 * Keeps the rest of a double click from a dialog that its first click has opened: it would press what has come under the
 * pointer, or close the dialog as a click beside it.
 */
export function useSingleClick(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    function onClick(event: MouseEvent) {
      if (event.detail <= 1) return stop();
      event.preventDefault();
      event.stopImmediatePropagation();
      // React Aria makes a click of its own of a press that ends without one.
      document.dispatchEvent(new PointerEvent('pointercancel'));
    }
    const stop = () => window.removeEventListener('click', onClick, true);
    window.addEventListener('click', onClick, true);
    return stop;
  }, [isOpen]);
}
