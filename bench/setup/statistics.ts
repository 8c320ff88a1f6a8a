/** Returns the quantile `q` (0–1) of `values` by nearest rank; NaN when there are none. */
export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** Returns the median; the lower of the middle two for an even number of values. */
export function median(values: number[]): number {
  return quantile(values, 0.5);
}

export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the standard error of the mean; NaN for fewer than two values. */
export function standardError(values: number[]): number {
  const center = mean(values);
  const variance = mean(values.map((value) => (value - center) ** 2));
  return Math.sqrt(variance / (values.length - 1));
}
