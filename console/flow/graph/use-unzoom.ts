import { useStoreApi } from '@xyflow/react';
import { type RefObject, useEffect } from 'react';

/** At this factor a button fills the room between two steps. */
const UNZOOM_MAX = 1.75;

/**
 * Sets the CSS variable `--unzoom`: the factor that keeps a target's size on the screen when the graph is zoomed out.
 */
export function useUnzoom(root: RefObject<HTMLElement | null>): void {
  const { getState, subscribe } = useStoreApi();
  useEffect(() => {
    let last: number | undefined;
    const update = () => {
      const zoom = getState().transform[2];
      if (zoom === last) return;
      last = zoom;
      root.current?.style.setProperty('--unzoom', `${Math.min(UNZOOM_MAX, Math.max(1, 1 / zoom))}`);
    };
    update();
    return subscribe(update);
  }, [root, getState, subscribe]);
}
