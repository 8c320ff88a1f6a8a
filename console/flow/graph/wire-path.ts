import type { Point } from './layout.ts';

const CORNER_RADIUS = 8;

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
