// The geometry of a flow's graph: steps from top to bottom, branches side by side, parallel and loop steps as frames
// around their inner steps.
import { listsInside, type Place, type Step, type StepList } from '../draft/steps.ts';

type View = { x: number; y: number; zoom: number };

const VIEW_MARGIN = 20;

/** Below this zoom text is illegible, so only a part of the graph is shown. */
const READABLE_ZOOM = 0.55;

/** The zoom for a part of the graph, where its width fits. */
const COMFORTABLE_ZOOM = 0.85;

/** The distance in pixels from every place beyond which a drop does nothing. */
const DROP_DISTANCE_MAX = 140;

const CORNER_RADIUS = 8;

export type Point = { x: number; y: number };
/** A step's box: a block, or the frame of a parallel or loop step. */
export type StepBox = Point & { step: Step; width: number; height: number; depth: number };
/** A line between steps; `return` leads back to the beginning of a loop. */
type Wire = { points: Point[]; kind: 'flow' | 'return'; hasArrow: boolean };
/** A place between steps where a step can be added or dropped. */
export type Gap = Point & { place: Place };
/** The name of a branch, above its first step. */
type BranchLabel = Point & { stepId: string; branch: string };

export type Layout = {
  boxes: StepBox[];
  wires: Wire[];
  gaps: Gap[];
  labels: BranchLabel[];
  start: Point;
  end: Point;
  width: number;
  height: number;
};

export const BLOCK = { width: 248, height: 58 };
export const FRAME_HEAD = 46;
export const END = { width: 84, height: 26 };
/** The length of the line between two steps. */
const GAP = 42;
const PADDING = 22;
const BRANCHES_APART = 26;
/** Room for the lines that split and join, and for branch names. */
const FORK = 26;
const LABEL = 26;
const JOIN = 20;
/** Room for the return line on both sides of a loop's body. */
const RETURN = 24;

type Size = { width: number; height: number };

/** Lays out the graph downwards from y = 0 around x = 0, so that it keeps its position as it grows. */
export function layOut(steps: Step[]): Layout {
  const layout = { boxes: [], wires: [], gaps: [], labels: [] } as unknown as Layout;
  const column = measureList(steps);
  const width = Math.max(column.width, BLOCK.width);
  const x = 0;
  layout.start = { x, y: END.height / 2 };
  const bottom = placeList(layout, steps, { parent: null }, x, END.height, 0, true);
  layout.end = { x, y: bottom + END.height / 2 };
  return { ...layout, width, height: bottom + END.height };
}

/** Describes what the layout of a tree depends on: its steps, their order and their branches. */
export function shapeOf(steps: Step[]): string {
  const list = (of: Step[]): unknown[] =>
    of.map((step) => [
      step.step_id,
      step.type,
      listsInside(step).map((inner) => [inner.list.branch, list(inner.steps)]),
    ]);
  return JSON.stringify(list(steps));
}

function measureList(steps: Step[]): Size {
  const sizes = steps.map(measure);
  return {
    width: Math.max(BLOCK.width, ...sizes.map(({ width }) => width)),
    height: sizes.reduce((sum, { height }) => sum + height + GAP, GAP),
  };
}

function measure(step: Step): Size {
  if (step.type === 'sequential') return BLOCK;
  const inner = listsInside(step).map(({ steps }) => measureList(steps));
  const height = Math.max(GAP, ...inner.map((size) => size.height));
  if (step.type === 'loop')
    return { width: (inner[0]?.width ?? 0) + 2 * (PADDING + RETURN), height: FRAME_HEAD + height + JOIN };
  const width = inner.reduce((sum, size) => sum + size.width + BRANCHES_APART, -BRANCHES_APART);
  return {
    width: Math.max(BLOCK.width, width) + 2 * PADDING,
    height: FRAME_HEAD + FORK + LABEL + height + JOIN,
  };
}

/** Places a list of steps below each other on the line at `x`, and returns the y at which the line ends. */
function placeList(
  layout: Layout,
  steps: Step[],
  list: StepList,
  x: number,
  top: number,
  depth: number,
  hasArrow: boolean,
): number {
  let y = top;
  for (const [index, step] of steps.entries()) {
    layout.gaps.push({ x, y: y + GAP / 2, place: { ...list, index } });
    layout.wires.push({
      points: [
        { x, y },
        { x, y: y + GAP },
      ],
      kind: 'flow',
      hasArrow: true,
    });
    y = placeStep(layout, step, x, y + GAP, depth);
  }
  layout.gaps.push({ x, y: y + GAP / 2, place: { ...list, index: steps.length } });
  layout.wires.push({
    points: [
      { x, y },
      { x, y: y + GAP },
    ],
    kind: 'flow',
    hasArrow,
  });
  return y + GAP;
}

function placeStep(layout: Layout, step: Step, x: number, y: number, depth: number): number {
  const { width, height } = measure(step);
  layout.boxes.push({ step, x: x - width / 2, y, width, height, depth });
  if (step.type === 'loop') placeLoop(layout, step, x, y, depth);
  if (step.type === 'parallel') placeBranches(layout, step, x, y, depth);
  return y + height;
}

function placeLoop(layout: Layout, step: Step, x: number, y: number, depth: number): void {
  const { width, height } = measure(step);
  const [body] = listsInside(step);
  const top = y + FRAME_HEAD;
  const bottom = body ? placeList(layout, body.steps, body.list, x, top, depth + 1, false) : top;
  const side = x + width / 2 - PADDING;
  layout.wires.push({
    points: [
      { x, y: bottom },
      { x: side, y: bottom },
      { x: side, y: top + 8 },
      { x: x + 6, y: top + 8 },
    ],
    kind: 'return',
    hasArrow: true,
  });
  layout.wires.push({
    points: [
      { x, y: bottom },
      { x, y: y + height },
    ],
    kind: 'flow',
    hasArrow: false,
  });
}

function placeBranches(layout: Layout, step: Step, x: number, y: number, depth: number): void {
  const { height } = measure(step);
  const lists = listsInside(step);
  const sizes = lists.map(({ steps }) => measureList(steps));
  const total = sizes.reduce((sum, size) => sum + size.width + BRANCHES_APART, -BRANCHES_APART);
  const [head, foot] = [y + FRAME_HEAD, y + height];
  let left = x - total / 2;
  for (const [index, { list, steps }] of lists.entries()) {
    const width = sizes[index]?.width ?? BLOCK.width;
    const centre = left + width / 2;
    const [fork, top] = [head + FORK / 2, head + FORK + LABEL];
    layout.wires.push({
      points: [
        { x, y: head },
        { x, y: fork },
        { x: centre, y: fork },
        { x: centre, y: top },
      ],
      kind: 'flow',
      hasArrow: false,
    });
    layout.labels.push({
      stepId: step.step_id,
      branch: list.branch ?? '',
      x: centre,
      y: head + FORK + LABEL / 2,
    });
    const bottom = placeList(layout, steps, list, centre, top, depth + 1, false);
    const join = foot - JOIN / 2;
    layout.wires.push({
      points: [
        { x: centre, y: bottom },
        { x: centre, y: join },
        { x, y: join },
        { x, y: foot },
      ],
      kind: 'flow',
      hasArrow: false,
    });
    left += width + BRANCHES_APART;
  }
}

/** Returns the SVG path of a line with rounded corners. */
export function wirePath(points: Point[]): string {
  const [first, ...rest] = points.filter((point, index) => !isSame(point, points[index - 1]));
  if (!first) return '';
  let path = `M ${first.x} ${first.y}`;
  let from = first;
  for (const [index, to] of rest.entries()) {
    const next = rest[index + 1];
    if (next) {
      const radius = Math.min(CORNER_RADIUS, distance(from, to) / 2, distance(to, next) / 2);
      const [a, b] = [towards(to, from, radius), towards(to, next, radius)];
      path += ` L ${a.x} ${a.y} Q ${to.x} ${to.y} ${b.x} ${b.y}`;
    } else path += ` L ${to.x} ${to.y}`;
    from = to;
  }
  return path;
}

/** Returns the SVG path of an arrowhead at the end of a line. */
export function arrowPath(points: Point[]): string {
  const [from, to] = points.slice(-2);
  if (!from || !to) return '';
  const [back, side] = [towards(to, from, 6), 4];
  const isVertical = from.x === to.x;
  const [a, b] = isVertical
    ? [
        { x: to.x - side, y: back.y },
        { x: to.x + side, y: back.y },
      ]
    : [
        { x: back.x, y: to.y - side },
        { x: back.x, y: to.y + side },
      ];
  return `M ${a.x} ${a.y} L ${to.x} ${to.y} L ${b.x} ${b.y} Z`;
}

function isSame(a: Point, b: Point | undefined): boolean {
  return a.x === b?.x && a.y === b.y;
}

function distance(a: Point, b: Point): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}

/** Returns the point at a distance from `from` in the direction of `to`, along one axis. */
function towards(from: Point, to: Point, far: number): Point {
  return { x: from.x + Math.sign(to.x - from.x) * far, y: from.y + Math.sign(to.y - from.y) * far };
}

/** Finds the place nearest to the pointer, except places inside the dragged steps and beside their current position. */
export function findDrop(
  gaps: Gap[],
  pointer: Point,
  dragged: ReadonlySet<string>,
  own: Place | undefined,
): Gap | undefined {
  let best: Gap | undefined;
  let least = DROP_DISTANCE_MAX;
  for (const gap of gaps) {
    if (dragged.has(gap.place.parent ?? '') || isBeside(gap.place, own)) continue;
    const far = Math.hypot((gap.x - pointer.x) / 2, gap.y - pointer.y);
    if (far < least) [best, least] = [gap, far];
  }
  return best;
}

function isBeside(place: Place, own: Place | undefined): boolean {
  return (
    own !== undefined &&
    place.parent === own.parent &&
    place.branch === own.branch &&
    (place.index === own.index || place.index === own.index + 1)
  );
}

/** Returns a key for a place. */
export function placeName({ parent, branch, index }: Place): string {
  return JSON.stringify([parent, branch, index]);
}

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
