// How long and how often the fault tests break things: as CI has time for, or in full with `npm run faults`.
const full = process.env.WEIR_FAULTS === 'full';

/** Returns the size for CI, or the full one with `npm run faults`. */
export function faultSize(ci: number, whole: number): number {
  return full ? whole : ci;
}
