import { type RefObject, useEffect, useRef } from 'react';

/** Whether the component is still mounted when a late response comes. A closed form must not navigate. */
export function useIsMounted(): RefObject<boolean> {
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return isMounted;
}
