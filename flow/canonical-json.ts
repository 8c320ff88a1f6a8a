/** Serializes JSON with the keys of every object sorted, so that equal values have equal digests. */
export function canonicalJson(json: unknown): string {
  return JSON.stringify(json, (_, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
