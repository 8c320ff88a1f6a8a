import { useReactFlow, useStore } from '@xyflow/react';
import { useCallback, useEffect, useRef } from 'react';
import { initialView, viewWith } from './initial-view.ts';
import { BLOCK, FRAME_HEAD, type Layout } from './layout.ts';

export type GraphView = { fit(): void; zoom(by: 'in' | 'out'): void };

/** Shows the beginning at first, and then the selected step when it is out of sight. */
export function useGraphView(layout: Layout, selectedId: string | undefined): GraphView {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isShown = useRef(false);
  const latest = useRef({ layout, width, height });
  latest.current = { layout, width, height };
  useEffect(() => {
    if (isShown.current || width === 0 || height === 0) return;
    isShown.current = true;
    void flow.setViewport(initialView(latest.current.layout, { width, height }));
  }, [flow, width, height]);
  useEffect(() => {
    const { layout: here, ...window } = latest.current;
    const box = here.boxes.find(({ step }) => step.step_id === selectedId);
    if (!box || !isShown.current) return;
    const seen = {
      ...box,
      width: Math.min(box.width, BLOCK.width * 2),
      height: Math.min(box.height, FRAME_HEAD * 3),
    };
    const [before, after] = [flow.getViewport(), viewWith(flow.getViewport(), seen, window)];
    if (before.x !== after.x || before.y !== after.y) void flow.setViewport(after, { duration: 150 });
  }, [flow, selectedId]);
  const fit = useCallback(() => void flow.fitView({ padding: 0.08, maxZoom: 1, duration: 150 }), [flow]);
  const zoom = useCallback((by: 'in' | 'out') => void (by === 'in' ? flow.zoomIn() : flow.zoomOut()), [flow]);
  return { fit, zoom };
}
