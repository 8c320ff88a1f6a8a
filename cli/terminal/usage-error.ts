/** The command was called wrongly; weir.ts ends with 2. */
export class UsageError extends Error {}
