/** Finds the name that `name` was probably meant to be: the nearest one, when a third of its letters at most differ. */
export function findNearestName(name: string, names: string[]): string | undefined {
  const distances = names.map((known) => ({ known, distance: distanceOf(name, known) }));
  const [nearest] = distances.sort((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= Math.ceil(nearest.known.length / 3) ? nearest.known : undefined;
}

/** Counts the letters to insert, leave out or change in order to get from one name to the other (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (let at = 0; at < b.length; at++) {
      const [above = 0, diagonal = 0, left = 0] = [row[at + 1], row[at], next[at]];
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === b[at] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
