/** Finds the name that `name` was probably meant to be: the nearest name that differs in at most a third of its letters. */
export function findNearestName(name: string, names: string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const known of names) {
    const most = Math.min(Math.ceil(known.length / 3), least - 1);
    if (Math.abs(known.length - name.length) > most) continue;
    const distance = distanceOf(name, known);
    if (distance > most) continue;
    nearest = known;
    least = distance;
  }
  return nearest;
}

/** Counts the letters to insert, delete or replace to get from one name to the other (Levenshtein distance). */
function distanceOf(a: string, b: string): number {
  const row = Uint32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let index = 0; index < a.length; index += 1) {
    const letter = a.charCodeAt(index);
    let diagonal = index;
    let left = index + 1;
    row[0] = left;
    for (let at = 1; at <= b.length; at += 1) {
      const above = row[at] as number;
      left = letter === b.charCodeAt(at - 1) ? diagonal : 1 + Math.min(above, left, diagonal);
      row[at] = left;
      diagonal = above;
    }
  }
  return row.at(-1) ?? 0;
}
