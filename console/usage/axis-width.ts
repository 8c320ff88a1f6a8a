const MIN_PX = 58;
/** The width of a character at 11px. A canvas cuts off text that does not fit. */
const CHARACTER_PX = 6.5;
const GAP_PX = 16;

/** Returns the width of an axis that fits its longest label. uPlot also asks before there are labels. */
export function axisWidth(labels: readonly string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map(({ length }) => length));
  return Math.max(MIN_PX, Math.ceil(longest * CHARACTER_PX) + GAP_PX);
}
