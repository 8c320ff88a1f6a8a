import type { Side } from './side.ts';

/** The part of the versions page that is in the address: the version that is open, and what it is compared with. */
type VersionsSearch = { version?: Side; compare?: Side };

/** Reads it from the address; anything else there is left out. */
export function readVersionsSearch(search: Record<string, unknown>): VersionsSearch {
  const [version, compare] = [toSide(search.version), toSide(search.compare)];
  return { ...(version !== undefined && { version }), ...(compare !== undefined && { compare }) };
}

function toSide(value: unknown): Side | undefined {
  if (value === 'draft') return value;
  const number = Number(value);
  return typeof value !== 'boolean' && Number.isInteger(number) && number > 0 ? number : undefined;
}
