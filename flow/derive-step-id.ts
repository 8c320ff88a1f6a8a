/** Derives an id that is not in `taken` from a step's name, or from `fallback` if the name has no letters or digits. */
export function deriveStepId(name: string, fallback: string, taken: ReadonlySet<string>): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '');
  const base = words || fallback;
  let id = base;
  for (let next = 2; taken.has(id); next += 1) id = `${base}-${next}`;
  return id;
}
