// Amounts of credits, which are stored in microcredits.
export const MICROCREDITS_PER_CREDIT = 1_000_000;

/** The largest amount that anybody may name: far above the cost of any run, and exact in microcredits. */
export const CREDITS_MAX = 1_000_000_000;

/** Returns the same amount in microcredits, rounded to whole ones. */
export function toMicrocredits(credits: number): number {
  return Math.round(credits * MICROCREDITS_PER_CREDIT);
}

/** Tells whether an amount has at most six decimal places, so that it is exact in microcredits. */
export function isExact(credits: number): boolean {
  return toMicrocredits(credits) / MICROCREDITS_PER_CREDIT === credits;
}
