const MIN_PX = 58;
/** The width of a character at 11px. Texts are drawn on a canvas, which cuts off what does not fit. */
const CHARACTER_PX = 6.5;
const GAP_PX = 16;

/** The width of an axis in which its longest label fits; uPlot asks for it before there are any, too. */
export function axisWidth(labels: readonly string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map(({ length }) => length));
  return Math.max(MIN_PX, Math.ceil(longest * CHARACTER_PX) + GAP_PX);
}
