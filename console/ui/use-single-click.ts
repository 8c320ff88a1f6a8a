import { useEffect } from 'react';

/**
 * Discards the second click of a double click that opened a dialog. It would press whatever is under the pointer, or
 * close the dialog.
 */
export function useSingleClick(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    function onClick(event: MouseEvent) {
      if (event.detail <= 1) return stop();
      event.preventDefault();
      event.stopImmediatePropagation();
      // React Aria synthesizes a click for a press that ends without one.
      document.dispatchEvent(new PointerEvent('pointercancel'));
    }
    const stop = () => window.removeEventListener('click', onClick, true);
    window.addEventListener('click', onClick, true);
    return stop;
  }, [isOpen]);
}
