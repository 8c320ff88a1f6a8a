/** The draft, or a version's number. */
export type Side = 'draft' | number;

/** The search parameters of the versions page: the open version, and the one to compare it with. */
type VersionsSearch = { version?: Side; compare?: Side };

/** Reads the search parameters; anything else is dropped. */
export function readVersionsSearch(search: Record<string, unknown>): VersionsSearch {
  const [version, compare] = [toSide(search.version), toSide(search.compare)];
  return { ...(version !== undefined && { version }), ...(compare !== undefined && { compare }) };
}

function toSide(value: unknown): Side | undefined {
  if (value === 'draft') return value;
  const number = Number(value);
  return typeof value !== 'boolean' && Number.isInteger(number) && number > 0 ? number : undefined;
}

export function nameOf(side: Side): string {
  return side === 'draft' ? 'Draft' : `Version ${side}`;
}
