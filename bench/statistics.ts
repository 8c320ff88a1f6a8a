/** The value below which the share `q` (0–1) of `values` lies, by nearest rank; NaN when there are none. */
export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle one; of an even number the lower of the two. */
export function median(values: number[]): number {
  return quantile(values, 0.5);
}
