import { useStoreApi } from '@xyflow/react';
import { type RefObject, useEffect } from 'react';

/** At this factor a button between two steps fills the room between them. */
const UNZOOM_MAX = 1.75;

/** Gives the stylesheet, as `--unzoom`, the factor that keeps a target's size on the screen while the graph is drawn smaller. */
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
