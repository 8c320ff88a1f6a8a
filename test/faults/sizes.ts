// How long and how often the fault tests break things: what CI has time for or, with `npm run faults`, all of it.
const full = process.env.WEIR_FAULTS === 'full';

/** The size for CI, or the full one. */
export function faultSize(ci: number, whole: number): number {
  return full ? whole : ci;
}
