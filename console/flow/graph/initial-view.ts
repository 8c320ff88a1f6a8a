import type { Layout } from './layout.ts';

type View = { x: number; y: number; zoom: number };

const MARGIN = 20;
/** Below this, text cannot be read: rather show a part. */
const READABLE = 0.55;
/** A graph of which only a part is shown is drawn this large, where its width has room. */
const COMFORTABLE = 0.85;

/** Tells whether the whole graph can be read in the window. */
export function fitsInto(layout: Layout, window: { width: number; height: number }): boolean {
  return largestZoom(layout, window) >= READABLE;
}

/** The view that shows the whole graph where it can be read, otherwise its beginning. */
export function initialView(layout: Layout, window: { width: number; height: number }): View {
  const whole = largestZoom(layout, window);
  const across = (window.width - 2 * MARGIN) / layout.width;
  const zoom = whole >= READABLE ? Math.min(1, whole) : Math.min(COMFORTABLE, Math.max(READABLE, across));
  return {
    zoom,
    x: window.width / 2,
    y: Math.max(MARGIN, (window.height - layout.height * zoom) / 4),
  };
}

function largestZoom({ width, height }: Layout, window: { width: number; height: number }): number {
  return Math.min((window.width - 2 * MARGIN) / width, (window.height - 2 * MARGIN) / height);
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
    if (from < MARGIN || length * zoom > room - 2 * MARGIN) return MARGIN - from;
    return to > room - MARGIN ? room - MARGIN - to : 0;
  };
  return {
    zoom,
    x: view.x + shift(box.x, box.width, view.x, window.width),
    y: view.y + shift(box.y, box.height, view.y, window.height),
  };
}
