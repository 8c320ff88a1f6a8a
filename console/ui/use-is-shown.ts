import { type RefObject, useEffect, useRef } from 'react';

/** Whether the component is still mounted when a late response comes. A closed form must not navigate. */
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
