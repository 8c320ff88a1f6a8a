/** Statements of the release before, by how they begin, that the newest schema refuses; each with why nobody misses it. */
export const ENDED: { statement: string; reason: string }[] = [];
