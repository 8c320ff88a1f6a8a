/**
 * Derives an id that is not in `taken` from a step's name, or from `fallback` if the name has no letters or digits. `numbers` has
 * the number to try next for each name; keep it while ids are added to `taken`.
 */
export function deriveStepId(
  name: string,
  fallback: string,
  taken: ReadonlySet<string>,
  numbers = new Map<string, number>(),
): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '');
  const base = words || fallback;
  let id = base;
  let next = numbers.get(base) ?? 2;
  for (; taken.has(id); next += 1) id = `${base}-${next}`;
  numbers.set(base, next);
  return id;
}
