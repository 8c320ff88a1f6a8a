// The geometry of a flow's graph: steps from top to bottom, branches side by side, parallel and loop steps as frames
// around their inner steps.
import { listsInside, type Place, type Step, type StepList } from '../draft/steps.ts';

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
