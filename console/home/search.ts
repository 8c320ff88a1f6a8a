export const SEARCH_MAX_LENGTH = 200;

/** Reads the search text from an address, which anyone may have written. */
export function readFlowsSearch({ search }: Record<string, unknown>): { search?: string | undefined } {
  // The router parses a text of digits as a number.
  const text = typeof search === 'number' ? String(search) : search;
  return typeof text === 'string' && text !== '' ? { search: text.slice(0, SEARCH_MAX_LENGTH) } : {};
}
