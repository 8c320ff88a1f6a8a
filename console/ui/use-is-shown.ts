import { type RefObject, useEffect, useRef } from 'react';

/** Whether the component is still on the page, for what is answered late: a form that was closed moves nobody. */
export function useIsShown(): RefObject<boolean> {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}
