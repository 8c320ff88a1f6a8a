export const SEARCH_MAX_LENGTH = 200;

/** Reads the text by which flows are looked for from an address that anyone may have written. */
export function readFlowsSearch({ search }: Record<string, unknown>): { search?: string | undefined } {
  // The address may hold a text that reads as a number.
  const text = typeof search === 'number' ? String(search) : search;
  return typeof text === 'string' && text !== '' ? { search: text.slice(0, SEARCH_MAX_LENGTH) } : {};
}
