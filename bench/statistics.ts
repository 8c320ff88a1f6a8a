/** Returns the quantile `q` (0–1) of `values` by nearest rank; NaN when there are none. */
export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** Returns the median; the lower of the middle two for an even number of values. */
export function median(values: number[]): number {
  return quantile(values, 0.5);
}
