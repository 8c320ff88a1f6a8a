import type { Layout } from './layout.ts';

type View = { x: number; y: number; zoom: number };

const VIEW_MARGIN = 20;
/** Below this zoom text is illegible, so only a part of the graph is shown. */
const READABLE_ZOOM = 0.55;
/** The zoom for a part of the graph, where its width fits. */
const COMFORTABLE_ZOOM = 0.85;

/** Whether the whole graph fits the window at a legible zoom. */
export function fitsInto(layout: Layout, window: { width: number; height: number }): boolean {
  return largestZoom(layout, window) >= READABLE_ZOOM;
}

/** Returns the view of the whole graph where it is legible, otherwise of its beginning. */
export function initialView(layout: Layout, window: { width: number; height: number }): View {
  const whole = largestZoom(layout, window);
  const across = (window.width - 2 * VIEW_MARGIN) / layout.width;
  const zoom =
    whole >= READABLE_ZOOM ? Math.min(1, whole) : Math.min(COMFORTABLE_ZOOM, Math.max(READABLE_ZOOM, across));
  return {
    zoom,
    x: window.width / 2,
    y: Math.max(VIEW_MARGIN, (window.height - layout.height * zoom) / 4),
  };
}

function largestZoom({ width, height }: Layout, window: { width: number; height: number }): number {
  return Math.min((window.width - 2 * VIEW_MARGIN) / width, (window.height - 2 * VIEW_MARGIN) / height);
}

/** Returns the view moved as little as needed to bring a box into the window. */
export function viewWith(
  view: View,
  box: { x: number; y: number; width: number; height: number },
  window: { width: number; height: number },
): View {
  const { zoom } = view;
  const shift = (start: number, length: number, offset: number, room: number) => {
    const [from, to] = [start * zoom + offset, (start + length) * zoom + offset];
    if (from < VIEW_MARGIN || length * zoom > room - 2 * VIEW_MARGIN) return VIEW_MARGIN - from;
    return to > room - VIEW_MARGIN ? room - VIEW_MARGIN - to : 0;
  };
  return {
    zoom,
    x: view.x + shift(box.x, box.width, view.x, window.width),
    y: view.y + shift(box.y, box.height, view.y, window.height),
  };
}
