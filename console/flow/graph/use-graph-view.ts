import { useReactFlow, useStore, useStoreApi } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { BLOCK, FRAME_HEAD, fitsInto, initialView, type Layout, viewWith } from './layout.ts';

/** At this factor a button fills the room between two steps. */
const UNZOOM_MAX = 1.75;

export type GraphView = {
  fit(): void;
  zoom(by: 'in' | 'out'): void;
  /** Called when a move of the viewport starts; an event means that the user moves it. */
  onMoveStart(event: unknown): void;
};

const MOVE_MS = 150;

/**
 * Positions the viewport: first at the beginning, then on the whole graph while it fits and the user has not moved it,
 * otherwise on the selected step.
 */
export function useGraphView(layout: Layout, selectedId: string | undefined): GraphView {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isShown = useRef(false);
  const isMoved = useRef(false);
  useEffect(() => {
    if (width === 0 || height === 0) return;
    const window = { width, height };
    const wasShown = isShown.current;
    isShown.current = true;
    if (!wasShown || (!isMoved.current && fitsInto(layout, window))) {
      void flow.setViewport(initialView(layout, window), wasShown ? { duration: MOVE_MS } : {});
      return;
    }
    const box = layout.boxes.find(({ step }) => step.step_id === selectedId);
    if (!box) return;
    const seen = {
      ...box,
      width: Math.min(box.width, BLOCK.width * 2),
      height: Math.min(box.height, FRAME_HEAD * 3),
    };
    const [before, after] = [flow.getViewport(), viewWith(flow.getViewport(), seen, window)];
    if (before.x !== after.x || before.y !== after.y) void flow.setViewport(after, { duration: MOVE_MS });
  }, [flow, layout, selectedId, width, height]);
  const fit = useCallback(() => {
    isMoved.current = false;
    void flow.fitView({ padding: 0.08, maxZoom: 1, duration: MOVE_MS });
  }, [flow]);
  const zoom = useCallback(
    (by: 'in' | 'out') => {
      isMoved.current = true;
      void (by === 'in' ? flow.zoomIn() : flow.zoomOut());
    },
    [flow],
  );
  const onMoveStart = useCallback((event: unknown) => {
    if (event) isMoved.current = true;
  }, []);
  return { fit, zoom, onMoveStart };
}

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
