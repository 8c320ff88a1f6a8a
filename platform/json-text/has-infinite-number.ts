/**
 * Whether a value parsed from JSON, whose depth is bounded, has a number that was too large for JavaScript, such as 1e400:
 * written again, it would be null.
 */
export function hasInfiniteNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfiniteNumber);
}
