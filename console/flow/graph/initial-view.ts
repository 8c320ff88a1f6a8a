import type { Layout } from './layout.ts';

type View = { x: number; y: number; zoom: number };

const VIEW_MARGIN = 20;
/** Below this, text cannot be read: rather show a part. */
const READABLE_ZOOM = 0.55;
/** A graph of which only a part is shown is drawn this large, where its width has room. */
const COMFORTABLE_ZOOM = 0.85;

/** Tells whether the whole graph can be read in the window. */
export function fitsInto(layout: Layout, window: { width: number; height: number }): boolean {
  return largestZoom(layout, window) >= READABLE_ZOOM;
}

/** The view that shows the whole graph where it can be read, otherwise its beginning. */
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

/** The view moved as little as needed, so that a box is inside the window. */
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
